// Claims of one client never reach another, and are never those of an unverified token.

import Fastify, { type FastifyInstance } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type Authenticator,
  type CallOptions,
  claimsOf,
  createAggregatorGateway,
  gatewayPlugin,
  type GatewayPluginOptions,
} from '../../../src/index.ts'
import { gateway, jsonUpstream, sendJson, upstream } from '../../helpers/servers.ts'

/** Stands in for tokens: `authorization` is the name of the client. Only an upper-case one is valid. */
const authentication: Authenticator = {
  authenticate: async ({ headers: { authorization } }) => {
    if (authorization === undefined) return undefined
    if (authorization !== authorization.toUpperCase()) throw Object.assign(new Error('invalid'), { statusCode: 401 })
    return { sub: authorization, groups: [authorization, 'ALL'], isAdmin: authorization === 'ANNA' }
  },
}

/** Echoes the path and a header; responses may be cached, and take a moment. */
const echo = (): Promise<string> =>
  upstream((request, response) => {
    response.setHeader('cache-control', 'public, max-age=60')
    setTimeout(() => sendJson(response, JSON.stringify([request.url, request.headers['x-user'] ?? null])), 5)
  })

const asking = async (app: FastifyInstance, names: readonly string[], url = '/me'): Promise<unknown[]> => {
  const responses = await Promise.all(names.map((name) => app.inject({ url, headers: { authorization: name } })))
  return responses.map((response) => response.json<{ one: unknown }>().one)
}

describe.each([
  ['coalesced', true, false],
  ['cached', false, true],
  ['coalesced and cached', true, true],
])('a response that is %s', (_title, coalesce, cache) => {
  it.each<[string, Partial<CallOptions>, anna: unknown, ben: unknown]>([
    ['path', { path: '/{claims.sub}' }, ['/ANNA', null], ['/BEN', null]],
    ['query', { path: '/?of={claims.sub}' }, ['/?of=ANNA', null], ['/?of=BEN', null]],
    ['header', { headers: { 'x-user': '{claims.sub}' } }, ['/', 'ANNA'], ['/', 'BEN']],
    [
      'function',
      { headers: (request) => ({ 'x-user': claimsOf(request)!['sub'] as string }) },
      ['/', 'ANNA'],
      ['/', 'BEN'],
    ],
    ['condition', { when: '{claims.isAdmin}' }, ['/', null], null],
    [
      'list',
      { path: '/{item}', forEach: '{claims.groups}' },
      [
        ['/ANNA', null],
        ['/ALL', null],
      ],
      [
        ['/BEN', null],
        ['/ALL', null],
      ],
    ],
  ])('is not shared between clients whose claims are in its %s', async (_part, call, anna, ben) => {
    const calls = { one: { upstream: 'it', path: '/', ...call } }
    const upstreams = { it: { origin: await echo(), cache } }
    const app = await gateway({ upstreams, authentication, endpoints: [{ path: '/me', coalesce, calls }] })
    for (const _ of [1, 2]) expect(await asking(app, ['ANNA', 'BEN', 'ANNA', 'BEN'])).toEqual([anna, ben, anna, ben])
  })

  it('is not given to a client whose token is invalid or missing', async () => {
    const calls = { one: { upstream: 'it', path: '/' } }
    const upstreams = { it: { origin: await echo(), cache } }
    const app = await gateway({ upstreams, authentication, endpoints: [{ path: '/me', coalesce, calls }] })
    const requests = ['ANNA', 'ben', undefined].map((authorization) =>
      app.inject({ url: '/me', headers: authorization === undefined ? {} : { authorization } }),
    )
    expect((await Promise.all(requests)).map(({ statusCode }) => statusCode)).toEqual([200, 401, 401])
  })
})

it("the gateway's coalesce leaves out endpoints with authentication", async () => {
  let asked = 0
  const origin = await upstream((_request, response) => {
    asked++
    setTimeout(() => sendJson(response, '1'), 20)
  })
  const calls = { one: { upstream: 'it', path: '/' } }
  const app = await gateway({
    upstreams: { it: origin },
    authentication,
    coalesce: true,
    endpoints: [{ path: '/me', calls }],
  })
  await asking(app, ['ANNA', 'BEN'])
  expect(asked).toBe(2)
})

it('claims are those of the authenticator, whatever a hook or a client has set', async () => {
  const origin = await echo()
  const app = Fastify()
  onTestFinished(() => app.close())
  app.decorateRequest('user', null as never)
  app.decorateRequest('claims', null as never)
  app.addHook('onRequest', async (request) => {
    Object.assign(request, { user: { sub: 'EVE' }, claims: { sub: 'EVE' } })
    request.headers['claims'] = 'EVE'
  })
  const calls = { one: { upstream: 'it', path: '/{claims.sub}' } }
  await app.register(
    gatewayPlugin as never,
    {
      ...{ upstreams: { it: origin }, authentication },
      endpoints: [{ path: '/me', calls, authentication: 'optional' }] as GatewayPluginOptions['endpoints'],
    } as never,
  )
  expect(await asking(app, ['ANNA'])).toEqual([['/ANNA', null]])
  const { statusCode, json } = await app.inject('/me')
  expect([statusCode, json<{ message: string }>().message]).toEqual([400, '{claims.sub} is missing'])
})

it('are verified before all other hooks of the route', async () => {
  const order: string[] = []
  const app = await gateway({
    upstreams: { it: await echo() },
    authentication: {
      authenticate: async () => {
        order.push('authentication')
        return {}
      },
    },
    endpoints: [
      {
        path: '/me',
        calls: { one: { upstream: 'it', path: '/' } },
        route: { onRequest: async () => void order.push('hook') },
      },
    ],
  })
  await app.inject('/me')
  expect(order).toEqual(['authentication', 'hook'])
})

it.each([
  [undefined, 'Bearer'],
  ['Basic realm="orders"', 'Basic realm="orders"'],
])('with the challenge %o, a 401 for a client without credentials has it', async (challenge, header) => {
  const app = await gateway({
    upstreams: { it: 'http://127.0.0.1:1' },
    authentication: { authenticate: async () => undefined, ...(challenge !== undefined && { challenge }) },
    endpoints: [{ path: '/me', calls: { one: { upstream: 'it', path: '/' } } }],
  })
  const { statusCode, headers } = await app.inject('/me')
  expect([statusCode, headers['www-authenticate']]).toEqual([401, header])
})

it.each([
  ['of 401', { statusCode: 401 }, [401, 'ApiKey']],
  ['of 401, as status', { status: 401 }, [401, 'ApiKey']],
  [
    'of 401 with a challenge of its own',
    { statusCode: 401, headers: { 'www-authenticate': 'ApiKey error="revoked"' } },
    [401, 'ApiKey error="revoked"'],
  ],
  ['of 403', { statusCode: 403 }, [403, undefined]],
  ['without a status', {}, [500, undefined]],
])('an error %s of the authenticator has the challenge that HTTP demands', async (_title, fields, expected) => {
  const error = Object.freeze(Object.assign(new Error('The key is invalid'), fields))
  const app = await gateway({
    upstreams: { it: 'http://127.0.0.1:1' },
    authentication: { authenticate: () => Promise.reject(error), challenge: 'ApiKey' },
    endpoints: [{ path: '/me', calls: { one: { upstream: 'it', path: '/' } } }],
  })
  for (const _ of [1, 2]) {
    const { statusCode, headers } = await app.inject('/me')
    expect([statusCode, headers['www-authenticate']]).toEqual(expected)
  }
})

describe('an endpoint', () => {
  const appOf = async (one: object): Promise<FastifyInstance> =>
    await gateway({
      upstreams: { it: await jsonUpstream((path) => path) },
      authentication,
      endpoints: [{ path: '/me', ...one } as never],
    })
  const calls = { one: { upstream: 'it', path: '/' } }

  it.each([
    ['with authentication', { calls }, [401, 401, 200]],
    ['with optional authentication', { calls, authentication: 'optional' }, [200, 401, 200]],
    ['without authentication', { calls, authentication: false }, [200, 200, 200]],
    ['that is a pass-through', { passThrough: { upstream: 'it', path: '/{claims.sub}' } }, [401, 401, 200]],
  ])('%s responds to no, invalid and valid credentials', async (_title, one, statuses) => {
    const app = await appOf(one)
    const responses = [undefined, 'anna', 'ANNA'].map((authorization) =>
      app.inject({ url: '/me', headers: authorization === undefined ? {} : { authorization } }),
    )
    expect((await Promise.all(responses)).map(({ statusCode }) => statusCode)).toEqual(statuses)
  })
})

describe('an authenticator that fails', () => {
  const respond = async (authenticate: () => unknown): Promise<{ body: Record<string, unknown>; log: string }> => {
    let log = ''
    const app = await gateway({
      upstreams: { it: 'http://127.0.0.1:1' },
      authentication: { authenticate } as Authenticator,
      endpoints: [{ path: '/me', calls: { one: { upstream: 'it', path: '/' } } }],
      fastify: { logger: { level: 'error', stream: { write: (line: string) => void (log += line) } } },
    })
    const { json } = await app.inject('/me')
    return { body: json(), log }
  }
  const refused = new Error('connect ECONNREFUSED 10.0.0.7:5432')

  it.each<[string, () => unknown]>([
    ['rejects', async () => await Promise.reject(refused)],
    [
      'throws',
      () => {
        throw refused
      },
    ],
    ['has a status of success', async () => await Promise.reject(Object.assign(refused, { statusCode: 200 }))],
  ])('gives a 500 without its message to the client, and the cause to the log: it %s', async (_, authenticate) => {
    const { body, log } = await respond(authenticate)
    expect(body).toEqual({
      statusCode: 500,
      code: 'AGGREGATOR_GATEWAY_AUTHENTICATION_FAILED',
      error: 'Internal Server Error',
      message: 'The client could not be verified',
    })
    expect(log).toContain('ECONNREFUSED 10.0.0.7:5432')
  })

  it('gives a 500 for an error that is not an Error', async () => {
    expect((await respond(async () => await Promise.reject(undefined as never))).body).toMatchObject({
      statusCode: 500,
    })
  })

  it.each([
    ['an array', []],
    ['an array', [{ tenant: 'acme' }]],
    ['a string', 'acme'],
    ['a boolean', true],
  ])('gives a 500 for claims that are no object: %s', async (got, claims) => {
    const { body, log } = await respond(async () => claims)
    expect(body).toMatchObject({ statusCode: 500, code: 'AGGREGATOR_GATEWAY_AUTHENTICATION_FAILED' })
    expect(log).toContain(`authenticate: expected an object of claims or undefined, got ${got}.`)
  })

  it.each(['statusCode', 'status'])('keeps an error with a %s', async (name) => {
    const { body } = await respond(
      async () => await Promise.reject(Object.assign(new Error('Locked'), { [name]: 423 })),
    )
    expect(body).toMatchObject({ statusCode: 423, message: 'Locked' })
  })
})

it('HEAD needs credentials as GET does', async () => {
  const app = await gateway({
    upstreams: { it: await jsonUpstream((path) => path) },
    authentication,
    endpoints: [{ path: '/me', calls: { one: { upstream: 'it', path: '/' } } }],
  })
  const responses = [undefined, 'ANNA'].map((authorization) =>
    app.inject({ method: 'HEAD', url: '/me', headers: authorization === undefined ? {} : { authorization } }),
  )
  expect((await Promise.all(responses)).map(({ statusCode }) => statusCode)).toEqual([401, 200])
})

const call = { upstream: 'it', path: '/' }

it.each([
  ['endpoints[0].calls.one.path', undefined, {}, { path: '/{claims.sub}' }],
  ['endpoints[0].calls.one.headers', undefined, {}, { headers: { 'x-user': '{claims.sub}' } }],
  ['endpoints[0].calls.one.when', authentication, { authentication: false }, { when: ['{claims.sub}'] }],
  [
    'endpoints[0].calls.one.forEach',
    authentication,
    { authentication: false },
    { path: '/{item}', forEach: '{claims.sub}' },
  ],
])('%s needs authentication for claims', async (name, authenticator, endpoint, one) => {
  const options = {
    upstreams: { it: 'http://127.0.0.1:1' },
    ...(authenticator ? { authentication: authenticator } : {}),
    endpoints: [{ path: '/', calls: { one: { ...call, ...one } }, ...endpoint }],
  }
  await expect(createAggregatorGateway(options as never)).rejects.toThrow(
    `Invalid option "${name}": expected an endpoint with authentication for claims, got "{claims.sub}".`,
  )
})

it.each([true, 'optional'])('authentication: %j of an endpoint needs that of the gateway', async (mode) => {
  const options = { upstreams: {}, endpoints: [{ path: '/', authentication: mode, passThrough: call }] }
  await expect(
    createAggregatorGateway({ ...options, upstreams: { it: 'http://127.0.0.1:1' } } as never),
  ).rejects.toThrow(
    `Invalid option "endpoints[0].authentication": expected authentication of the gateway, too, got ${JSON.stringify(mode)}.`,
  )
})

describe('a trace header, which is not part of cache keys', () => {
  const optionsWith = (source: string, cache: boolean, kind: 'calls' | 'passThrough'): GatewayPluginOptions => {
    const one = { ...call, headers: { 'X-Request-ID': `id-{${source}}` } }
    const served = kind === 'calls' ? { calls: { one } } : { passThrough: one }
    const upstreams = { it: { origin: 'http://127.0.0.1:1', cache } }
    return { upstreams, authentication, endpoints: [{ path: '/', ...served }] }
  }

  it.each([
    ['claims.sub', 'calls', 'calls.one'],
    ['user.sub', 'calls', 'calls.one'],
    ['headers.x-user', 'calls', 'calls.one'],
    ['claims.sub', 'passThrough', 'passThrough'],
  ] as const)('cannot have {%s} for an upstream with a cache: %s', async (source, kind, name) => {
    await expect(createAggregatorGateway(optionsWith(source, true, kind))).rejects.toThrow(
      `Invalid option "endpoints[0].${name}.headers.X-Request-ID": expected no value of a user in a trace header, which ` +
        `cache keys leave out, got "id-{${source}}".`,
    )
  })

  it.each([
    ['claims.sub', false],
    ['headers.x-request-id', true],
  ] as const)('can have {%s} with cache: %j', async (source, cache) => {
    await (await createAggregatorGateway(optionsWith(source, cache, 'calls'))).close()
  })
})
