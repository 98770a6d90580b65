import Fastify from 'fastify'
import { expect, it } from 'vitest'
import { gatewayPlugin } from '../../../src/index.ts'
import type { GatewayPluginOptions } from '../../../src/index.ts'
import { gateway, jsonUpstream, nobody, upstream } from '../../helpers/servers.ts'

const ofStatus = async (status: GatewayPluginOptions['status']) =>
  gateway({
    upstreams: { it: await jsonUpstream(() => 1) },
    endpoints: [],
    ...(status === undefined ? {} : { status }),
  })

it.each([undefined, false])('does not exist with %s', async (status) => {
  expect((await (await ofStatus(status)).inject('/__gateway')).statusCode).toBe(404)
})

it('shows circuit, calls and connections of each origin', async () => {
  const broken = await nobody()
  const waiting: (() => void)[] = []
  const slow = await upstream((_, response) => void waiting.push(() => response.writeHead(404).end()))
  const app = await gateway({
    upstreams: {
      slow: { origin: [slow], circuitBreaker: false },
      broken: { origin: broken, circuitBreaker: { window: 2, resetTimeout: 60_000 } },
    },
    endpoints: [
      { path: '/slow', calls: { one: { upstream: 'slow', path: '/' } } },
      { path: '/broken', calls: { one: { upstream: 'broken', path: '/' } } },
    ],
    status: true,
  })
  const closed = { origin: broken, circuit: 'closed', pending: 0, streams: 0, connected: 0 }
  expect((await app.inject('/__gateway')).json()).toMatchObject({ upstreams: { broken: [closed] } })
  const answer = app.inject('/slow').then(({ statusCode }) => statusCode)
  await expect.poll(() => waiting).toHaveLength(1)
  for (const _ of [1, 2, 3]) await app.inject('/broken')
  const { json, headers } = await app.inject('/__gateway')
  expect(json()).toEqual({
    upstreams: {
      slow: [{ origin: slow, circuit: 'off', pending: 1, streams: 0, connected: 1 }],
      broken: [{ ...closed, circuit: 'open' }],
    },
  })
  expect(headers['cache-control']).toBe('no-store')
  waiting[0]!()
  expect(await answer).toBe(502)
})

it('is served at `path`', async () => {
  const app = await ofStatus({ path: '/health/upstreams' })
  const [there, not] = await Promise.all([app.inject('/health/upstreams'), app.inject('/__gateway')])
  expect([there.statusCode, not.statusCode]).toEqual([200, 404])
})

it('is below the prefix of the plugin', async () => {
  const app = Fastify()
  await app.register(gatewayPlugin, { prefix: '/api', upstreams: {}, endpoints: [], status: true })
  expect((await app.inject('/api/__gateway')).json()).toEqual({ upstreams: {} })
  await app.close()
})

it('is for those only whom its hooks let in', async () => {
  const app = await ofStatus({
    route: {
      onRequest: async ({ headers }, reply) => {
        if (headers.authorization !== 'Bearer secret') await reply.code(401).send()
      },
    },
  })
  const status = async (authorization: string): Promise<number> =>
    (await app.inject({ url: '/__gateway', headers: { authorization } })).statusCode
  expect(await Promise.all([status('Bearer secret'), status('')])).toEqual([200, 401])
})
