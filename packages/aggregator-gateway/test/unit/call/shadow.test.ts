import { setTimeout as sleep } from 'node:timers/promises'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { expect, it } from 'vitest'
import { createAggregatorGateway, type ShadowOptions, type UpstreamOptions } from '../../../src/index.ts'
import { gateway, jsonUpstream, nobody, sendJson, tcpUpstream, upstream } from '../../helpers/servers.ts'

/** A gateway with one call, of which copies go to an upstream. */
const shadowing = async (
  second: UpstreamOptions,
  shadow: Partial<ShadowOptions> = {},
  call: Record<string, unknown> = {},
): Promise<FastifyInstance> =>
  gateway({
    upstreams: { first: await jsonUpstream((path) => path), second: { connectTimeout: 500, ...second } },
    endpoints: [
      {
        path: '/:id',
        calls: {
          one: { upstream: 'first', path: '/users/{params.id}', shadow: { upstream: 'second', ...shadow }, ...call },
        },
      },
    ],
  })

const ask = async (app: FastifyInstance): Promise<unknown> => (await app.inject('/7')).json()

it('a copy goes to the second upstream, and its response is discarded', async () => {
  const seen: [string | undefined, string | undefined, IncomingHttpHeaders][] = []
  const origin = await upstream((request, response) => {
    seen.push([request.method, request.url, request.headers])
    response.writeHead(500, { 'content-type': 'text/html' }).end('x'.repeat(100_000))
  })
  const app = await shadowing({ origin }, {}, { forwardHeaders: ['x-tenant'], headers: { 'x-from': 'gateway' } })
  const { statusCode, json } = await app.inject({ url: '/7', headers: { 'x-tenant': 'acme', cookie: 'a=1' } })
  expect([statusCode, json()]).toEqual([200, { one: '/users/7' }])
  await expect.poll(() => seen).toHaveLength(1)
  expect(seen[0]).toEqual([
    'GET',
    '/users/7',
    {
      host: origin.slice(7),
      connection: 'keep-alive',
      accept: 'application/json',
      'x-tenant': 'acme',
      'x-from': 'gateway',
    },
  ])
})

it.each<[string, () => Promise<string>]>([
  ['refuses', nobody],
  ['closes', () => tcpUpstream((socket) => void socket.destroy())],
  ['speaks no HTTP', () => tcpUpstream((socket) => void socket.end('220 smtp\r\n'))],
  ['hangs', () => tcpUpstream(() => {})],
  [
    'sends more than is taken',
    () => upstream((_, response) => void response.writeHead(200).end(Buffer.alloc(100_000))),
  ],
])('a second upstream that %s is not noticed', async (_, origin) => {
  const app = await shadowing({ origin: await origin(), maxResponseBytes: 1000 }, { timeout: 50 })
  for (let count = 0; count < 3; count++) expect(await ask(app)).toEqual({ one: '/users/7' })
  await sleep(100)
  expect(await ask(app)).toEqual({ one: '/users/7' })
})

it('only a share of the calls is copied', async () => {
  let copies = 0
  const origin = await jsonUpstream(() => ++copies)
  const some = await shadowing({ origin }, { share: 0.3 })
  for (let count = 0; count < 200; count++) await ask(some)
  await expect.poll(() => copies).toBeGreaterThan(20)
  expect(copies).toBeLessThan(140)
  copies = 0
  const none = await shadowing({ origin }, { share: 0 })
  for (let count = 0; count < 20; count++) await ask(none)
  await sleep(50)
  expect(copies).toBe(0)
})

it('a copy ends by its own timeout, not with the response', async () => {
  let [asked, closed] = [0, 0]
  const origin = await upstream((request) => {
    asked++
    request.socket.once('close', () => closed++)
  })
  const app = await shadowing({ origin }, { timeout: 300 })
  await ask(app)
  await expect.poll(() => asked).toBe(1)
  await sleep(100)
  expect(closed).toBe(0)
  await expect.poll(() => closed).toBe(1)
})

it('no copy is sent to a full queue or an open circuit', async () => {
  let asked = 0
  const hanging = await upstream(() => asked++)
  const full = await shadowing({ origin: hanging, maxConnections: 2, maxQueue: 0 }, { timeout: 60_000 })
  for (let count = 0; count < 10; count++) await ask(full)
  await expect.poll(() => asked).toBe(2)

  let failed = 0
  const failing = await upstream((_, response) => void response.writeHead(503).end(String(failed++)))
  const broken = await shadowing({ origin: failing, circuitBreaker: { window: 4, resetTimeout: 60_000 } })
  for (let count = 1; count <= 4; count++) {
    await ask(broken)
    await expect.poll(() => failed).toBe(count)
    await sleep(10)
  }
  for (let count = 0; count < 10; count++) await ask(broken)
  await sleep(50)
  expect(failed).toBe(4)
})

it('a copy in the queue has a timeout, too', async () => {
  const asked: (string | undefined)[] = []
  const origin = await upstream(({ url }, response) => {
    asked.push(url)
    setTimeout(() => sendJson(response, '1'), url === '/long' ? 800 : 0)
  })
  const app = await gateway({
    upstreams: {
      first: await jsonUpstream((path) => path),
      second: { origin, maxConnections: 1, circuitBreaker: false },
    },
    endpoints: [
      { path: '/holds', calls: { one: { upstream: 'second', path: '/long', timeout: 5000 } } },
      {
        path: '/:id',
        calls: {
          one: { upstream: 'first', path: '/{params.id}', shadow: { upstream: 'second', timeout: 100 } },
        },
      },
    ],
  })
  const holds = app.inject('/holds')
  await expect.poll(() => asked).toEqual(['/long'])
  await Promise.all(['/1', '/2'].map((path) => app.inject(path)))
  expect((await holds).json()).toEqual({ one: 1 })
  await app.inject('/3')
  await expect.poll(() => asked).toEqual(['/long', '/3'])
})

it('copies end with the app', async () => {
  let [asked, closed] = [0, 0]
  const origin = await upstream((request) => {
    asked++
    request.socket.once('close', () => closed++)
  })
  const app = await createAggregatorGateway({
    upstreams: { first: await jsonUpstream(() => 1), second: origin },
    endpoints: [
      {
        path: '/',
        calls: { one: { upstream: 'first', path: '/', shadow: { upstream: 'second', timeout: 60_000 } } },
      },
    ],
  })
  await app.inject('/')
  await expect.poll(() => asked).toBe(1)
  await app.close()
  await expect.poll(() => closed).toBe(1)
})
