// Nobody gets what another user was answered: requests share a response only if their calls send the same.

import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Fastify from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { cacheStores } from 'undici'
import { gatewayPlugin, KeyValueCacheStore, type GatewayPluginOptions } from '../../../src/index.ts'
import type { GatewayObserver } from '../../../src/index.ts'
import type { CallOptions } from '../../../src/index.ts'
import { jsonUpstream, sendJson, upstream } from '../../helpers/servers.ts'

/** What an upstream may decide by: everything but the connection and the trace. */
interface Sent {
  readonly url: string
  readonly headers: Record<string, unknown>
}

/** An upstream whose responses say what it was sent; they may be cached, and take a moment. */
async function echo(): Promise<string> {
  return await upstream((request, response) => {
    const { host: _host, connection: _connection, traceparent: _traceparent, ...headers } = request.headers
    response.setHeader('cache-control', 'public, max-age=60')
    setTimeout(() => sendJson(response, JSON.stringify({ url: request.url!, headers } satisfies Sent)), 5)
  })
}

interface User {
  readonly name: string
}

/** An app whose users sign in by `x-sign-in`, which no call forwards. */
async function appOf(
  options: GatewayPluginOptions,
  hook?: (request: FastifyRequest) => void,
): Promise<FastifyInstance> {
  const app = Fastify()
  onTestFinished(() => app.close())
  app.decorateRequest('user', null as never)
  app.addHook('preHandler', async (request) => {
    const name = request.headers['x-sign-in'] as string | undefined
    if (name !== undefined) (request as unknown as { user: User }).user = { name }
    hook?.(request)
  })
  await app.register(gatewayPlugin as never, options as never)
  return app
}

/** What the users get who ask at the same time. */
async function askedBy(app: FastifyInstance, users: readonly string[], url = '/account'): Promise<Sent[]> {
  const responses = await Promise.all(users.map((name) => app.inject({ url, headers: { 'x-sign-in': name } })))
  return responses.map((response) => response.json<{ one: Sent }>().one)
}

const sharing: [string, Pick<GatewayPluginOptions, 'coalesce'>, { cache?: true }][] = [
  ['coalesced', { coalesce: true }, {}],
  ['cached', {}, { cache: true }],
  ['coalesced and cached', { coalesce: true }, { cache: true }],
]

describe.each(sharing)('a response that is %s', (_title, { coalesce = false }, cache) => {
  const options = (
    origin: string,
    call: Partial<CallOptions>,
    observers: GatewayObserver[] = [],
  ): GatewayPluginOptions => ({
    upstreams: { it: { origin, ...cache } },
    endpoints: [{ path: '/account', coalesce, calls: { one: { upstream: 'it', path: '/account', ...call } } }],
    observers,
  })

  const own = [{ 'x-user': 'anna' }, { 'x-user': 'ben' }, { 'x-user': 'anna' }]

  it('is not shared between users of a placeholder in `headers`', async () => {
    const app = await appOf(options(await echo(), { headers: { 'x-user': '{user.name}' } }))
    for (const _ of [1, 2]) {
      expect((await askedBy(app, ['anna', 'ben', 'anna'])).map(({ headers }) => headers)).toMatchObject(own)
    }
  })

  it('is not shared between users of a function in `headers`', async () => {
    const headers = (request: FastifyRequest) => ({ 'X-User': (request as unknown as { user: User }).user.name })
    const app = await appOf(options(await echo(), { headers }))
    expect((await askedBy(app, ['anna', 'ben', 'anna'])).map((sent) => sent.headers)).toMatchObject(own)
  })

  it('is not shared between users of an observer’s `callHeaders`', async () => {
    const callHeaders = (_call: unknown, request: FastifyRequest) => ({
      'x-user': (request as unknown as { user: User }).user.name,
    })
    const app = await appOf(options(await echo(), {}, [{ callHeaders }]))
    expect((await askedBy(app, ['anna', 'ben', 'anna'])).map((sent) => sent.headers)).toMatchObject(own)
  })

  it('is shared between traces', async () => {
    let traces = 0
    let asked = 0
    const origin = await upstream((_request, response) => {
      asked++
      response.setHeader('cache-control', 'public, max-age=60')
      setTimeout(() => sendJson(response, '1'), 5)
    })
    const app = await appOf(
      options(origin, {}, [{ callStarted: (_call, _request, headers) => (headers['traceparent'] = `00-${traces++}`) }]),
    )
    await askedBy(app, ['anna'])
    await askedBy(app, ['ben'])
    expect([asked, traces]).toEqual(cache.cache ? [1, 2] : [2, 2])
  })

  it('is shared by the query that a hook has set, not by the URL', async () => {
    const app = await appOf(options(await echo(), { path: '/account?of={query.tenant}' }), (request) => {
      ;(request.query as { tenant?: string }).tenant = request.headers['x-sign-in'] as string
    })
    expect((await askedBy(app, ['anna', 'ben'])).map(({ url }) => url)).toEqual(['/account?of=anna', '/account?of=ben'])
  })

  it('is not shared between users of a condition', async () => {
    const app = await appOf(options(await echo(), { when: { value: '{user.name}', in: ['anna'] } }))
    const [anna, ben] = await askedBy(app, ['anna', 'ben'])
    expect([anna?.url, ben]).toEqual(['/account', null])
  })

  it('is not shared between users of a condition of a call that depends on another', async () => {
    const calls = {
      first: { upstream: 'it', path: '/first' },
      one: {
        upstream: 'it',
        path: '/{calls.first.url}',
        allowEncodedSlash: true,
        when: { value: '{user.name}', in: ['anna'] },
      },
    }
    const origin = await echo()
    const app = await appOf({
      upstreams: { it: { origin, ...cache } },
      endpoints: [{ path: '/account', coalesce, calls }],
    })
    const [anna, ben] = await askedBy(app, ['anna', 'ben'])
    expect([anna?.url, ben]).toEqual(['/%2Ffirst', null])
  })

  it.each(['/{item}', '/{item}?{calls.first.headers.accept}'])(
    'is not shared between users of a list for %s',
    async (path) => {
      const calls = {
        first: { upstream: 'it', path: '/first' },
        one: { upstream: 'it', path: path.replace('?', '?a='), forEach: '{user.name}' },
      }
      const origin = await echo()
      const app = await appOf(
        { upstreams: { it: { origin, ...cache } }, endpoints: [{ path: '/account', coalesce, calls }] },
        (request) => {
          const user = (request as unknown as { user: { name: unknown } }).user
          user.name = [user.name, 'all']
        },
      )
      const urls = (await askedBy(app, ['anna', 'ben'])).map((all) =>
        (all as unknown as Sent[]).map(({ url }) => url.split('?', 1)[0]),
      )
      expect(urls).toEqual([
        ['/anna', '/all'],
        ['/ben', '/all'],
      ])
    },
  )

  it('is shared by the headers that a hook has set', async () => {
    const app = await appOf(options(await echo(), { forwardHeaders: ['x-user'] }), (request) => {
      request.headers['x-user'] = request.headers['x-sign-in']
    })
    expect((await askedBy(app, ['anna', 'ben'])).map((sent) => sent.headers)).toMatchObject(own.slice(0, 2))
  })
})

it('drops and logs a header other than a trace header from `callStarted`', async () => {
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'error', stream: { write: (line: string) => void lines.push(line) } } })
  onTestFinished(() => app.close())
  await app.register(
    gatewayPlugin as never,
    {
      upstreams: { it: await echo() },
      endpoints: [{ path: '/account', coalesce: true, calls: { one: { upstream: 'it', path: '/account' } } }],
      observers: [
        {
          callStarted: (_call: unknown, _request: unknown, headers: Record<string, string>) =>
            (headers['x-user'] = 'anna'),
        },
      ],
    } as never,
  )
  const { one } = (await app.inject('/account')).json<{ one: Sent }>()
  expect(one.headers).not.toHaveProperty('x-user')
  expect(lines.join('')).toMatch(/`callStarted` may only add trace headers, got \\"x-user\\": use `callHeaders`/i)
})

describe('a client that names a header in `connection`', () => {
  const ask = async (
    call: Partial<CallOptions>,
    headers: Record<string, string>,
    hook?: (request: FastifyRequest) => void,
  ) => {
    const seen: unknown[] = []
    const origin = await jsonUpstream((_path, request) => seen.push(request.headers['x-user']))
    const app = await appOf(
      {
        upstreams: { it: origin },
        endpoints: [{ path: '/account', calls: { one: { upstream: 'it', path: '/account', ...call } } }],
      },
      hook,
    )
    const { statusCode } = await app.inject({ url: '/account', headers: { 'x-sign-in': 'anna', ...headers } })
    return [statusCode, ...seen]
  }

  it('cannot strip what `headers` sets', async () => {
    const call = { headers: { 'x-user': '{user.name}' } }
    expect(await ask(call, { connection: 'close, x-user' })).toEqual([200, 'anna'])
  })

  it('cannot strip what a hook sets', async () => {
    const hook = (request: FastifyRequest): void => void (request.headers['x-user'] = 'hook')
    const call = { forwardHeaders: ['x-user'] }
    expect(await ask(call, { connection: 'close, x-user' }, hook)).toEqual([200, 'hook'])
    expect(await ask(call, { connection: 'close, x-user', 'x-user': 'ben' }, hook)).toEqual([200, 'hook'])
    // Whose value it is cannot be told.
    expect(await ask(call, { connection: 'close, x-user', 'x-user': 'hook' }, hook)).toEqual([400])
  })

  it('gets a 400 for a forwarded header of its own', async () => {
    const call = { forwardHeaders: ['x-user'] }
    expect(await ask(call, { connection: 'X-User , close', 'x-user': 'ben' })).toEqual([400])
    expect(await ask(call, { connection: 'x-other', 'x-user': 'ben' })).toEqual([200, 'ben'])
  })

  it('cannot block the event loop by 40,000 spaces', async () => {
    const before = process.cpuUsage().user
    const headers = { connection: `a${' '.repeat(40_000)}b` }
    expect(await ask({ forwardHeaders: ['x-user'] }, headers)).toEqual([200, undefined])
    // A quadratic search takes four seconds.
    expect(process.cpuUsage().user - before).toBeLessThan(1_000_000)
  })
})

describe('a header made of values', () => {
  const ask = async (headers: CallOptions['headers'], user: unknown) => {
    const seen: unknown[] = []
    const origin = await jsonUpstream((_path, request) => seen.push(request.headers['x-user']))
    const app = await appOf(
      {
        upstreams: { it: origin },
        endpoints: [{ path: '/account', calls: { one: { upstream: 'it', path: '/account', headers } } }],
      } as GatewayPluginOptions,
      (request) => void ((request as unknown as { user: unknown }).user = user),
    )
    const response = await app.inject('/account')
    return [response.statusCode, response.json<{ code?: string }>().code, ...seen]
  }

  it('has text around its placeholders', async () => {
    expect(await ask({ 'X-User': 'user={user.sub};v={user.v}' }, { sub: 'anna', v: 2 })).toEqual([
      200,
      undefined,
      'user=anna;v=2',
    ])
  })

  it.each([
    ['is missing', null],
    ['is missing a member', {}],
    ['has characters beyond Latin-1', { sub: 'Łukasz' }],
    ['has a line break', { sub: 'a\r\nx-admin: 1' }],
    ['is an object', { sub: {} }],
  ])('is refused with 400 when the value %s', async (_title, user) => {
    expect(await ask({ 'x-user': '{user.sub}' }, user)).toEqual([400, 'AGGREGATOR_GATEWAY_BAD_PARAMETER'])
  })

  it.each<[string, Record<string, unknown>]>([
    ['a value beyond Latin-1', { 'x-user': 'Łukasz' }],
    ['a line break', { 'x-user': 'a\nb' }],
    ['a name that is none', { 'x user': 'a' }],
    ['a header of the connection', { 'transfer-encoding': 'chunked' }],
    ['a value that is no text', { 'x-user': {} }],
  ])('is refused with 500 when a function makes %s', async (_title, made) => {
    expect(await ask((() => made) as never, {})).toEqual([500, 'AGGREGATOR_GATEWAY_INVALID_HEADER'])
  })

  it('is left out when a function makes it undefined', async () => {
    expect(await ask(() => ({ 'x-user': undefined }), {})).toEqual([200, undefined, undefined])
  })
})

describe('a shared store', () => {
  const stores: [string, () => NonNullable<ConstructorParameters<typeof KeyValueCacheStore>[0]> | undefined][] = [
    ['in memory', () => undefined],
    [
      'of keys and values',
      () => {
        const values = new Map<string, string>()
        return {
          get: async (key) => values.get(key),
          set: async (key, value) => values.set(key, value),
          delete: async (key) => values.delete(key),
        }
      },
    ],
  ]

  it.each(stores)(
    '%s gives no response that was asked for without a header which the reader forwards',
    async (_title, make) => {
      const origin = await echo()
      const keyValue = make()
      const store = keyValue ? new KeyValueCacheStore(keyValue) : new cacheStores.MemoryCacheStore()
      const sharingGateway = (call: Partial<CallOptions>) =>
        appOf({
          upstreams: { it: { origin, cache: { store } } },
          endpoints: [{ path: '/account', calls: { one: { upstream: 'it', path: '/account', ...call } } }],
        })
      const [anonymous, forwarding] = await Promise.all([
        sharingGateway({}),
        sharingGateway({ forwardHeaders: ['x-sign-in'] }),
      ])
      const [first] = await askedBy(anonymous, ['anna'])
      // It is stored after the response.
      await delay(20)
      const [second] = await askedBy(forwarding, ['ben'])
      expect([first!.headers['x-sign-in'], second!.headers['x-sign-in']]).toEqual([undefined, 'ben'])
    },
  )
})

it('any mix of hooks, observers, headers and users shares a response only between requests that send the same', async () => {
  const origin = await echo()
  const short = fc.constantFrom('a', 'b', 'c')
  const request = fc.record({ user: short, tenant: fc.option(short, { nil: undefined }), query: short, path: short })
  const configuration = fc.record({
    cache: fc.boolean(),
    coalesce: fc.boolean(),
    hookSetsQuery: fc.boolean(),
    hookSetsParameter: fc.boolean(),
    hookSetsHeader: fc.boolean(),
    observes: fc.boolean(),
    templates: fc.boolean(),
    computes: fc.boolean(),
    forwards: fc.boolean(),
    depends: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(configuration, fc.array(request, { minLength: 2, maxLength: 8 }), async (c, requests) => {
      const call: Partial<CallOptions> = {
        path: '/{params.id}?q={query.q}',
        forwardQuery: ['also'],
        ...(c.forwards ? { forwardHeaders: ['x-tenant', 'x-hook'] } : {}),
        ...(c.computes
          ? { headers: (one: FastifyRequest) => ({ 'x-computed': (one as unknown as { user: User }).user.name }) }
          : c.templates
            ? { headers: { 'x-user': '{user.name}' } }
            : {}),
      }
      const app = Fastify()
      app.decorateRequest('user', null as never)
      app.addHook('preHandler', async (one) => {
        const name = one.headers['x-sign-in'] as string
        ;(one as unknown as { user: User }).user = { name }
        if (c.hookSetsQuery) (one.query as Record<string, string>)['also'] = name
        if (c.hookSetsParameter) (one.params as Record<string, string>)['id'] = name
        if (c.hookSetsHeader) one.headers['x-hook'] = name
      })
      await app.register(
        gatewayPlugin as never,
        {
          upstreams: { it: { origin, ...(c.cache ? { cache: true } : {}) } },
          endpoints: [
            {
              path: '/:id',
              coalesce: c.coalesce,
              calls: {
                one: { upstream: 'it', ...call },
                ...(c.depends
                  ? {
                      two: {
                        upstream: 'it',
                        ...call,
                        path: '/{params.id}/{calls.one.headers.accept}',
                        allowEncodedSlash: true,
                      },
                    }
                  : {}),
              },
            },
          ],
          observers: [
            {
              ...(c.observes
                ? {
                    callHeaders: (_: unknown, one: FastifyRequest) => ({
                      'x-observed': (one as unknown as { user: User }).user.name,
                    }),
                  }
                : {}),
              callStarted: (_: unknown, one: FastifyRequest, headers: Record<string, string>) =>
                (headers['traceparent'] = one.id),
            },
          ],
        } as never,
      )
      try {
        await Promise.all(
          requests.map(async ({ user, tenant, query, path }) => {
            const response = await app.inject({
              url: `/${path}?q=${query}`,
              headers: { 'x-sign-in': user, ...(tenant === undefined ? {} : { 'x-tenant': tenant }) },
            })
            const expected = {
              url: `/${c.hookSetsParameter ? user : path}?q=${query}${c.hookSetsQuery ? `&also=${user}` : ''}`,
              headers: {
                accept: 'application/json',
                ...(c.observes ? { 'x-observed': user } : {}),
                ...(c.computes ? { 'x-computed': user } : c.templates ? { 'x-user': user } : {}),
                ...(c.forwards && tenant !== undefined ? { 'x-tenant': tenant } : {}),
                ...(c.forwards && c.hookSetsHeader ? { 'x-hook': user } : {}),
              },
            }
            const { one, two } = response.json<{ one: Sent; two?: Sent }>()
            expect(one).toEqual(expected)
            expect((two ?? one).headers).toEqual(expected.headers)
          }),
        )
      } finally {
        await app.close()
      }
    }),
    { numRuns: 150 },
  )
})
