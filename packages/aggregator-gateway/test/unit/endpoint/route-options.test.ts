import rateLimit from '@fastify/rate-limit'
import Fastify, { type FastifyInstance } from 'fastify'
import { expect, it, onTestFinished, vi } from 'vitest'
import { gatewayPlugin } from '../../../src/index.ts'
import type { EndpointOptions, GatewayPluginOptions } from '../../../src/index.ts'
import { gateway, jsonUpstream, sendJson, upstream } from '../../helpers/servers.ts'

const calls = { one: { upstream: 'it', path: '/{params.id}' } }

const withRoute = async (route: EndpointOptions['route'], asked: string[] = []): Promise<FastifyInstance> =>
  gateway({
    upstreams: { it: await jsonUpstream((path) => asked.push(path)) },
    endpoints: [{ path: '/:id', calls, ...(route ? { route } : {}) }],
  })

it('validates requests before any call', async () => {
  const asked: string[] = []
  const app = await withRoute(
    { schema: { params: { type: 'object', properties: { id: { type: 'integer', minimum: 1 } } } } },
    asked,
  )
  const [good, bad] = await Promise.all([app.inject('/7'), app.inject('/zero')])
  expect([good.statusCode, bad.statusCode, bad.json<{ code: string }>().code]).toEqual([200, 400, 'FST_ERR_VALIDATION'])
  expect(asked).toEqual(['/7'])
})

it('runs hooks, which may reject', async () => {
  const asked: string[] = []
  const onResponse = vi.fn<() => void>()
  const app = await withRoute(
    {
      onRequest: async ({ headers }, reply) => {
        if (headers.authorization === undefined) await reply.code(401).send({ error: 'who?' })
      },
      onResponse: async () => onResponse(),
    },
    asked,
  )
  expect((await app.inject('/7')).statusCode).toBe(401)
  expect((await app.inject({ url: '/8', headers: { authorization: 'me' } })).statusCode).toBe(200)
  expect(asked).toEqual(['/8'])
  expect(onResponse).toHaveBeenCalledTimes(2)
})

it('takes constraints, limits and error handlers of Fastify', async () => {
  const app = await gateway({
    upstreams: { it: await jsonUpstream((path) => path) },
    endpoints: ['a', 'b'].map((host) => ({
      path: '/',
      method: 'POST' as const,
      calls: { one: { upstream: 'it', path: `/${host}` } },
      route: {
        constraints: { host },
        bodyLimit: 10,
        errorHandler: (error: unknown, _request: unknown, reply: { send: (body: unknown) => void }) => {
          reply.send({ mine: (error as { code: string }).code })
        },
      },
    })),
  })
  const ask = (host: string, payload: object) => app.inject({ method: 'POST', url: '/', headers: { host }, payload })
  expect((await ask('a', {})).json()).toEqual({ one: '/a' })
  expect((await ask('b', {})).json()).toEqual({ one: '/b' })
  expect((await ask('b', { text: 'too long' })).json()).toEqual({ mine: 'FST_ERR_CTP_BODY_TOO_LARGE' })
})

const limited = async (options: Partial<GatewayPluginOptions> = {}): Promise<FastifyInstance> => {
  const app = Fastify()
  onTestFinished(() => app.close())
  await app.register(rateLimit, { global: false })
  await app.register(gatewayPlugin, {
    upstreams: { it: await jsonUpstream((path) => path) },
    endpoints: [
      { path: '/limited/:id', calls, route: { config: { rateLimit: { max: 2, timeWindow: '1 minute' } } } },
      { path: '/free/:id', calls },
    ],
    ...options,
  })
  return app
}

it('applies rate limits of an endpoint', async () => {
  const app = await limited()
  const statuses = async (path: string): Promise<number[]> => {
    const found: number[] = []
    for (const id of [1, 2, 3]) found.push((await app.inject(`${path}/${id}`)).statusCode)
    return found
  }
  expect(await statuses('/limited')).toEqual([200, 200, 429])
  expect(await statuses('/free')).toEqual([200, 200, 200])
})

it('applies rate limits of the status route', async () => {
  const app = await limited({ status: { route: { config: { rateLimit: { max: 1, timeWindow: '1 minute' } } } } })
  expect((await app.inject('/__gateway')).statusCode).toBe(200)
  expect((await app.inject('/__gateway')).statusCode).toBe(429)
})

const MISSING =
  'config.rateLimit": expected @fastify/rate-limit to be registered before the gateway, with `global: false`, got an object.'

it('rejects a rate limit without @fastify/rate-limit', async () => {
  const route = { config: { rateLimit: { max: 1 } } }
  await expect(withRoute(route)).rejects.toMatchObject({
    code: 'AGGREGATOR_GATEWAY_INVALID_OPTION',
    message: `Invalid option "endpoints[0].route.${MISSING}`,
  })
  await expect(gateway({ upstreams: {}, endpoints: [], status: { route } })).rejects.toMatchObject({
    code: 'AGGREGATOR_GATEWAY_INVALID_OPTION',
    message: `Invalid option "status.route.${MISSING}`,
  })
  await expect(withRoute({ config: { rateLimit: false } })).resolves.toBeDefined()
})

it('does not coalesce by default if the route has hooks', async () => {
  const asked: string[] = []
  const waiting: (() => void)[] = []
  const origin = await upstream((request, response) => {
    asked.push(request.url!)
    waiting.push(() => sendJson(response, '1'))
  })
  const app = await gateway({
    upstreams: { it: origin },
    coalesce: true,
    endpoints: [
      {
        path: '/me/:id',
        calls,
        route: {
          preHandler: async ({ headers, params }) => void Object.assign(params as object, { id: headers['x-user'] }),
        },
      },
    ],
  })
  const answers = ['ada', 'bob'].map((user) =>
    app.inject({ url: '/me/0', headers: { 'x-user': user } }).then(({ statusCode }) => statusCode),
  )
  await expect.poll(() => asked.toSorted()).toEqual(['/ada', '/bob'])
  for (const answer of waiting) answer()
  expect(await Promise.all(answers)).toEqual([200, 200])
})
