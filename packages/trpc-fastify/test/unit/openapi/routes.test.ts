// Procedures as routes: inputs, results, errors, hooks and rules, and what an attacker may send.

import { once } from 'node:events'
import basicAuth from '@fastify/basic-auth'
import formbody from '@fastify/formbody'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { initTRPC, lazy, TRPCError } from '@trpc/server'
import type { CreateFastifyContextOptions } from '@trpc/server/adapters/fastify'
import Fastify, { type FastifyInstance } from 'fastify'
import { trpcPlugin, type TrpcPluginOptions } from 'trpc-fastify'
import { openApiPlugin, type OpenApiMeta } from 'trpc-fastify/openapi'
import * as v from 'valibot'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'

type Openapi = NonNullable<OpenApiMeta['openapi']>
const t = initTRPC.meta<OpenApiMeta>().context<{ user?: string }>().create({ isDev: false })
const at = (method: Openapi['method'], path: Openapi['path'], more: Partial<Openapi> = {}) =>
  t.procedure.meta({ openapi: { method, path, ...more } })

const kinds = z.object({
  id: z.number().int(),
  on: z.boolean().optional(),
  since: z.date().optional(),
  big: z.bigint().optional(),
  tags: z.array(z.string()).optional(),
  sizes: z.array(z.number()).nullable().optional(),
  most: z.number().nullish(),
  sure: z.array(z.boolean().nullable()).optional(),
  text: z.string().optional(),
})
const described = (input: z.infer<typeof kinds>) => ({ ...input, big: input.big?.toString() })

const router = t.router({
  read: at('GET', '/things/{id}')
    .input(kinds)
    .query(({ input }) => described(input)),
  save: at('POST', '/things/{id}')
    .input(kinds)
    .mutation(({ input }) => described(input)),
  remove: at('DELETE', '/things/{id}')
    .input(z.object({ id: z.string() }))
    .mutation(({ input }) => input),
  form: at('POST', '/form', { contentTypes: ['application/x-www-form-urlencoded'] })
    .input(z.object({ count: z.number() }))
    .mutation(({ input }) => input),
  valibot: at('GET', '/valibot')
    .input(toStandardJsonSchema(v.object({ name: v.string() })))
    .query(({ input }) => input),
  text: at('GET', '/text').query(() => 'text'),
  nothing: at('POST', '/nothing').mutation(() => undefined),
  user: at('GET', '/user').query(({ ctx }) => ctx.user ?? null),
  missing: at('GET', '/missing').query(() => {
    throw new TRPCError({ code: 'NOT_FOUND', message: 'No such thing' })
  }),
  documented: at('GET', '/documented', { errorResponses: [404] }).query(() => {
    throw new TRPCError({ code: 'NOT_FOUND', message: 'No such thing' })
  }),
  broken: at('GET', '/broken').query(() => {
    throw new RangeError('out of everything')
  }),
  stream: at('GET', '/stream').query(async function* () {
    yield 1
  }),
  admin: t.router({ health: at('GET', '/admin/health').query(() => ({ healthy: true })) }),
  disabled: at('GET', '/disabled', { enabled: false }).query(() => 'secret'),
  hidden: t.procedure.query(() => 'secret'),
})

type Options = Partial<TrpcPluginOptions<typeof router>> & {
  trpc?: Partial<TrpcPluginOptions<typeof router>['trpcOptions']>
}

async function serve(
  { trpc = {}, ...options }: Options = {},
  prepare: (app: FastifyInstance) => unknown = () => {},
): Promise<FastifyInstance> {
  const app = Fastify()
  onTestFinished(() => app.close())
  await prepare(app)
  await app.register(openApiPlugin<typeof router>, {
    prefix: '/api',
    trpcOptions: {
      router,
      createContext: ({ req }: CreateFastifyContextOptions) => ({ user: String(req.headers['x-user'] ?? 'nobody') }),
      ...trpc,
    },
    ...options,
  })
  return app
}

describe('inputs', () => {
  it.each([
    ['/api/things/7', { id: 7 }],
    ['/api/things/7?id=8', { id: 7 }],
    ['/api/things/7?on=false&tags=a&sizes=1&sizes=2', { id: 7, on: false, tags: ['a'], sizes: [1, 2] }],
    [
      '/api/things/7?since=2026-01-01&big=12345678901234567890',
      { id: 7, since: '2026-01-01T00:00:00.000Z', big: '12345678901234567890' },
    ],
    ['/api/things/7?text=12&unknown=1', { id: 7, text: '12' }],
    ['/api/things/7?most=3&sure=true&sure=0', { id: 7, most: 3, sure: [true, false] }],
    ['/api/valibot?name=Ada', { name: 'Ada' }],
  ])('come from path and query: %s', async (url, expected) => {
    const app = await serve()
    const { statusCode, body } = await app.inject(url)
    expect([statusCode, JSON.parse(body)]).toEqual([200, expected])
  })

  it.each([
    [{ on: true, since: '2026-01-01T00:00:00.000Z' }, 200, { id: 7, on: true, since: '2026-01-01T00:00:00.000Z' }],
    [{ id: 8 }, 200, { id: 7 }],
    [{ on: 'true' }, 400, { code: 'BAD_REQUEST' }],
  ])('come from the body: %o', async (payload, status, expected) => {
    const app = await serve()
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/api/things/7', payload })
    expect(statusCode).toBe(status)
    expect(JSON.parse(body)).toMatchObject(expected)
  })

  it('come from forms, where the meta names them', async () => {
    const app = await serve({}, (instance) => instance.register(formbody))
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const post = (url: string, payload: string) => app.inject({ method: 'POST', url, headers, payload })
    expect((await post('/api/form', 'count=7')).json()).toEqual({ count: 7 })
    expect((await post('/api/things/7', 'on=true')).statusCode).toBe(415)
  })
})

describe('responses', () => {
  it.each([
    ['/api/text', 200, 'application/json; charset=utf-8', '"text"'],
    ['/api/admin/health', 200, 'application/json; charset=utf-8', '{"healthy":true}'],
    ['/api/user', 200, 'application/json; charset=utf-8', '"nobody"'],
    [
      '/api/missing',
      404,
      'application/json; charset=utf-8',
      '{"statusCode":404,"code":"NOT_FOUND","error":"Not Found","message":"No such thing"}',
    ],
    [
      '/api/broken',
      500,
      'application/json; charset=utf-8',
      '{"statusCode":500,"code":"INTERNAL_SERVER_ERROR","error":"Internal Server Error","message":"out of everything"}',
    ],
    [
      '/api/stream',
      415,
      'application/json; charset=utf-8',
      expect.stringContaining('UNSUPPORTED_MEDIA_TYPE') as string,
    ],
    [
      '/api/things/x',
      400,
      'application/json; charset=utf-8',
      '{"statusCode":400,"code":"BAD_REQUEST","error":"Bad Request","message":"id: Invalid input: expected number, received string"}',
    ],
  ])('%s', async (url, status, type, expected) => {
    const app = await serve()
    const { statusCode, headers, body } = await app.inject(url)
    expect([statusCode, headers['content-type'], body]).toEqual([status, type, expected])
  })

  it('have no body without a result', async () => {
    const app = await serve()
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/api/nothing' })
    expect([statusCode, body]).toEqual([200, ''])
  })

  it('have the same body for an error with a schema', async () => {
    const app = await serve()
    const { statusCode, headers, body } = await app.inject('/api/missing')
    const documented = await app.inject('/api/documented')
    expect([documented.statusCode, documented.headers['content-type'], documented.body]).toEqual([
      statusCode,
      headers['content-type'],
      body,
    ])
  })

  it("use the app's error handler, with the error of tRPC", async () => {
    const app = await serve({}, (instance) =>
      instance
        .setErrorHandler((error: Error, _request, reply) =>
          reply.send({ isTrpc: error instanceof TRPCError, status: reply.statusCode, message: error.message }),
        )
        .register(formbody),
    )
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const refused = await app.inject({ method: 'POST', url: '/api/things/7', headers, payload: 'on=true' })
    expect([refused.statusCode, refused.json()]).toMatchObject([415, { isTrpc: true, status: 415 }])
    expect((await app.inject('/api/missing')).json()).toEqual({ isTrpc: true, status: 404, message: 'No such thing' })
  })

  it('have status and headers of responseMeta, and report errors to onError', async () => {
    const errors: unknown[] = []
    const app = await serve({
      trpc: {
        responseMeta: ({ errors: failed }) => ({
          status: failed.length > 0 ? 410 : 201,
          headers: { 'cache-control': 'no-store' },
        }),
        onError: ({ path, error }) => errors.push([path, error.code]),
      },
    })
    const answers = [await app.inject('/api/text'), await app.inject('/api/missing')]
    expect(answers.map(({ statusCode, headers }) => [statusCode, headers['cache-control']])).toEqual([
      [201, 'no-store'],
      [410, 'no-store'],
    ])
    expect(errors).toEqual([['missing', 'NOT_FOUND']])
  })
})

describe('an attacker', () => {
  it.each(['/api/hidden', '/api/disabled', '/api/read', '/api/admin.health', '/api/'])(
    'gets no procedure without a route: %s',
    async (url) => {
      const app = await serve()
      for (const method of ['GET', 'POST'] as const) expect((await app.inject({ method, url })).statusCode).toBe(404)
    },
  )

  it.each(['__proto__[polluted]=1', '__proto__=1&constructor=1', 'constructor[prototype][polluted]=1'])(
    'changes no prototype by a query: %s',
    async (query) => {
      const app = await serve()
      expect((await app.inject(`/api/things/7?${query}`)).json()).toEqual({ id: 7 })
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    },
  )

  it.each([
    ['application/json', '{"__proto__":{"polluted":1}}', 400],
    ['application/json', '[1]', 400],
    ['application/json', '{', 400],
    ['text/plain', '{"on":true}', 415],
    ['application/x-www-form-urlencoded', 'on=true', 415],
    ['multipart/form-data; boundary=b', '--b--', 415],
  ])('gets a 4xx for a body of %s: %s', async (type, payload, status) => {
    const app = await serve()
    const headers = { 'content-type': type }
    const answer = await app.inject({ method: 'POST', url: '/api/things/7', headers, payload })
    expect(answer.statusCode).toBe(status)
  })

  it('exceeds no body limit of the app or of a rule', async () => {
    const app = await serve({ procedures: { save: { bodyLimit: 20 } } })
    const payload = { text: 'x'.repeat(30) }
    expect((await app.inject({ method: 'POST', url: '/api/things/7', payload })).statusCode).toBe(413)
  })

  it('injects no header by an input', async () => {
    const app = await serve({
      trpc: { responseMeta: ({ info }) => ({ headers: { 'x-path': decodeURIComponent(info!.url!.pathname) } }) },
    })
    const answer = await app.inject('/api/things/7%0d%0aset-cookie:a=1')
    expect(answer.statusCode).toBeGreaterThanOrEqual(400)
    expect(answer.headers['set-cookie']).toBeUndefined()
  })
})

describe('hooks and rules', () => {
  it('of the app apply in the same context as those of tRPC', async () => {
    const app = Fastify()
    onTestFinished(() => app.close())
    await app.register(async (inner) => {
      await inner.register(basicAuth, {
        validate: async (name) => {
          if (name !== 'ada') throw new Error('no')
        },
      })
      inner.addHook('onRequest', inner.basicAuth)
      const options = { trpcOptions: { router, createContext: () => ({}) } }
      await inner.register(openApiPlugin<typeof router>, { prefix: '/api', ...options })
      await inner.register(trpcPlugin<typeof router>, { prefix: '/trpc', ...options })
    })
    const authorization = `Basic ${Buffer.from('ada:x').toString('base64')}`
    for (const url of ['/api/text', '/trpc/text']) {
      expect((await app.inject(url)).statusCode).toBe(401)
      expect((await app.inject({ url, headers: { authorization } })).statusCode).toBe(200)
    }
  })

  it('of procedures apply to their routes only', async () => {
    const refuse = async (): Promise<never> => Promise.reject(Object.assign(new Error('no'), { statusCode: 403 }))
    const ended: unknown[] = []
    const app = await serve({
      procedures: { 'admin.*': { onRequest: refuse }, read: { timeout: 1000 } },
      observers: [{ callEnded: ({ path, error }) => ended.push([path, error?.code]) }],
    })
    expect((await app.inject('/api/admin/health')).statusCode).toBe(403)
    expect((await app.inject('/api/text')).statusCode).toBe(200)
    expect((await app.inject('/api/missing')).statusCode).toBe(404)
    expect(ended).toEqual([
      ['text', undefined],
      ['missing', 'NOT_FOUND'],
    ])
  })
})

it('rejects a route that the app has, with the code of Fastify', async () => {
  const app = Fastify()
  app.get('/text', () => 'mine')
  const registered = app.register(openApiPlugin, { trpcOptions: { router, createContext: () => ({}) } as never })
  await expect(Promise.resolve(registered)).rejects.toMatchObject({ code: 'FST_ERR_DUPLICATED_ROUTE' })
})

it('warns of lazy routers, whose procedures have no routes', async () => {
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => lines.push(line) } } })
  const lazyRouter = t.router({ later: lazy(() => Promise.resolve({ default: router })) })
  await app.register(openApiPlugin, { trpcOptions: { router: lazyRouter, createContext: () => ({}) } as never })
  expect(lines.join('')).toContain('Lazy routers have no OpenAPI routes')
})

it('warns of them without a logger, too', async () => {
  const lazyRouter = t.router({ later: lazy(() => Promise.resolve({ default: router })) })
  const warning = once(process, 'warning')
  await Fastify().register(openApiPlugin, { trpcOptions: { router: lazyRouter, createContext: () => ({}) } as never })
  const message = expect.stringContaining('Lazy routers have no OpenAPI routes')
  expect(await warning).toEqual([expect.objectContaining({ name: 'TrpcFastifyWarning', message })])
})
