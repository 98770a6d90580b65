// Calls that wait for a connection: they are nothing to the origin, and nothing any more once they are given up.

import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { EndpointOptions, PassThroughEndpointOptions, UpstreamOptions } from '../../../src/index.ts'
import { gateway, sendJson, tcpUpstream, upstream } from '../../helpers/servers.ts'

interface Waiting {
  readonly origin: string
  readonly seen: { path: string; response: ServerResponse }[]
  readonly connections: () => number
}

/** An upstream that answers when it is told to. */
async function waiting(): Promise<Waiting> {
  const seen: { path: string; response: ServerResponse }[] = []
  const sockets = new Set<Socket>()
  const origin = await upstream((request, response) => {
    sockets.add(request.socket)
    seen.push({ path: request.url!, response })
  })
  return { origin, seen, connections: () => sockets.size }
}

const KINDS = ['call', 'call with a cache', 'pass-through', 'pass-through with a cache'] as const
type Kind = (typeof KINDS)[number]

const endpointOf = (kind: Kind, path: string, timeout: number): EndpointOptions | PassThroughEndpointOptions =>
  kind.startsWith('call')
    ? { path, timeout, calls: { one: { upstream: 'it', path: '/{params.id}' } } }
    : { path, timeout, passThrough: { upstream: 'it', path: '/{params.id}' } }

const before = (
  origin: string,
  kind: Kind,
  options: Partial<UpstreamOptions>,
  timeout: number,
): Promise<FastifyInstance> =>
  gateway({
    upstreams: { it: { origin, maxConnections: 1, cache: kind.endsWith('cache'), ...options } },
    endpoints: [endpointOf(kind, '/:id', timeout), endpointOf(kind, '/patient/:id', 60_000)],
    status: true,
  })

const statusOf = async (app: FastifyInstance): Promise<object> =>
  (await app.inject('/__gateway')).json<{ upstreams: { it: [object] } }>().upstreams.it[0]

describe.each(KINDS)('a %s that waits for a connection', (kind) => {
  it('does not count against the origin when it is late', async () => {
    const { origin, seen } = await waiting()
    const app = await before(origin, kind, { circuitBreaker: { window: 2, errorRate: 0.9, resetTimeout: 60_000 } }, 300)
    const first = app.inject('/patient/sent').then(({ statusCode }) => statusCode)
    await expect.poll(() => seen.length).toBe(1)
    const others = Array.from({ length: 5 }, () => app.inject('/waits').then(({ statusCode }) => statusCode))
    expect(await Promise.all(others)).toEqual(Array.from({ length: 5 }, () => 504))
    expect(await statusOf(app)).toMatchObject({ circuit: 'closed', pending: 1 })
    sendJson(seen[0]!.response, '1')
    expect(await first).toBe(200)
  })

  it('leaves the queue with its client, and gets no connection', async () => {
    const { origin, seen, connections } = await waiting()
    const app = await before(origin, kind, { maxQueue: 4 }, 60_000)
    await app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.server.address() as AddressInfo
    const first = app.inject('/first').then(({ statusCode }) => statusCode)
    await expect.poll(() => seen.length).toBe(1)
    for (let round = 0; round < 5; round++) {
      const clients = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const client = connect(port, '127.0.0.1')
          onTestFinished(() => void client.destroy())
          client.write('GET /leaves HTTP/1.1\r\nhost: a\r\n\r\n')
          await once(client, 'connect')
          return client
        }),
      )
      await expect.poll(() => statusOf(app)).toMatchObject({ pending: 5 })
      for (const client of clients) client.destroy()
      await expect.poll(() => statusOf(app)).toMatchObject({ pending: 1 })
    }
    const live = app.inject('/live').then(({ statusCode }) => statusCode)
    await expect.poll(() => statusOf(app)).toMatchObject({ pending: 2 })
    sendJson(seen[0]!.response, '1')
    await expect.poll(() => seen.map(({ path }) => path)).toEqual(['/first', '/live'])
    sendJson(seen[1]!.response, '1')
    expect(await Promise.all([first, live])).toEqual([200, 200])
    // A pass-through's response has a connection of its own while it is sent.
    expect(connections()).toBeLessThanOrEqual(kind.startsWith('call') ? 1 : 2)
    expect(await statusOf(app)).toMatchObject({ pending: 0, streams: 0 })
  })
})

it('a connection timeout counts against the origin', async () => {
  const { origin } = await waiting()
  // Names that are looked up for ever.
  const lookup = (): void => {}
  const app = await before(
    origin.replace('127.0.0.1', 'localhost'),
    'call',
    { lookup, maxConnections: 2, circuitBreaker: { window: 2, resetTimeout: 60_000 } },
    100,
  )
  for (let count = 0; count < 2; count++) expect((await app.inject('/a')).statusCode).toBe(504)
  expect(await statusOf(app)).toMatchObject({ circuit: 'open', pending: 0 })
})

it('a call that is aborted while it connects leaves the connection to the next one', async () => {
  let connections = 0
  const origin = await tcpUpstream((socket) => {
    connections++
    socket.on('data', () =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1\r\n\r\n1'),
    )
  })
  let found: () => void = () => {}
  const lookup: UpstreamOptions['lookup'] = (_host, options, done) => {
    found = () => {
      if (options.all) done(null, [{ address: '127.0.0.1', family: 4 }])
      else done(null, '127.0.0.1', 4)
    }
  }
  const app = await before(origin.replace('127.0.0.1', 'localhost'), 'call', { lookup, connectTimeout: 60_000 }, 100)
  expect((await app.inject('/late')).statusCode).toBe(504)
  found()
  await expect.poll(() => connections).toBe(1)
  expect((await app.inject('/next')).json()).toEqual({ one: 1 })
  expect(connections).toBe(1)
})
