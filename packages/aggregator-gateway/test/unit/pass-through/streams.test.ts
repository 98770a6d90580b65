// Bodies of pass-through endpoints, which may take for ever: they have room of their own beside the calls.

import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import type { UpstreamOptions } from '../../../src/index.ts'
import { gateway, sendJson, upstream } from '../../helpers/servers.ts'

/** Event streams without an end, uploads that are read, and JSON for all else. */
const serving = async (): Promise<{ origin: string; streams: Set<ServerResponse>; paths: string[] }> => {
  const streams = new Set<ServerResponse>()
  const paths: string[] = []
  const origin = await upstream((request, response) => {
    paths.push(request.url!)
    if (request.url!.startsWith('/events')) {
      streams.add(response)
      response.once('close', () => streams.delete(response))
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
    } else if (request.url === '/large') {
      response.writeHead(200, { 'content-length': 50_000_000 }).end(Buffer.alloc(50_000_000))
    } else {
      request.resume().on('end', () => sendJson(response, '1'))
    }
  })
  return { origin, streams, paths }
}

const before = async (origin: string | string[], options: Partial<UpstreamOptions> = {}) => {
  const app = await gateway({
    upstreams: { it: { origin, maxConnections: 2, maxQueue: 0, ...options } },
    endpoints: [
      { path: '/call', timeout: 60_000, calls: { one: { upstream: 'it', path: '/call' } } },
      { path: '/upload', method: 'POST', passThrough: { upstream: 'it', path: '/upload', forwardBody: true } },
      { path: '/:id', passThrough: { upstream: 'it', path: '/{params.id}' } },
    ],
    status: true,
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, port: (app.server.address() as AddressInfo).port }
}

const dial = async (port: number, text: string): Promise<{ socket: Socket; said: () => string }> => {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let received = ''
  socket.setEncoding('latin1').on('data', (part: string) => (received += part))
  socket.write(text)
  await once(socket, 'connect')
  return { socket, said: () => received }
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`

const statusOf = async (app: FastifyInstance): Promise<{ pending: number; streams: number; connected: number }> =>
  (await app.inject('/__gateway')).json<{ upstreams: { it: [never] } }>().upstreams.it[0]

it('leave the places of calls free: endless responses', async () => {
  const { origin, streams } = await serving()
  const { app, port } = await before(origin)
  const clients: Awaited<ReturnType<typeof dial>>[] = []
  for (let count = 0; count < 10; count++) {
    const client = await dial(port, get('/events'))
    clients.push(client)
    await expect.poll(() => client.said()).toContain('data: 1')
  }
  expect(await statusOf(app)).toMatchObject({ pending: 0, streams: 10 })
  expect((await app.inject('/call')).json()).toEqual({ one: 1 })
  for (const { socket } of clients) socket.destroy()
  await expect.poll(() => streams.size).toBe(0)
  await expect.poll(() => statusOf(app)).toMatchObject({ pending: 0, streams: 0 })
  // Connections beyond those that calls may have are closed.
  const all = Array.from({ length: 2 }, () => app.inject('/call').then(({ statusCode }) => statusCode))
  expect(await Promise.all(all)).toEqual([200, 200])
  expect((await statusOf(app)).connected).toBeLessThanOrEqual(2)
})

it('leave the places of calls free: responses that a client does not read', async () => {
  const { origin } = await serving()
  const { app, port } = await before(origin)
  for (let count = 0; count < 4; count++) {
    const { socket } = await dial(port, get('/large'))
    socket.pause()
    await expect.poll(() => statusOf(app)).toMatchObject({ streams: count + 1 })
  }
  expect((await app.inject('/call')).json()).toEqual({ one: 1 })
})

it('leave the places of calls free: bodies that a client stops sending', async () => {
  const { origin, paths } = await serving()
  const { app, port } = await before(origin)
  for (let count = 0; count < 4; count++) {
    await dial(port, 'POST /upload HTTP/1.1\r\nhost: a\r\ncontent-type: a/b\r\ncontent-length: 10\r\n\r\n12345')
    await expect.poll(() => statusOf(app)).toMatchObject({ pending: 0, streams: count + 1 })
  }
  await expect.poll(() => paths.length).toBe(4)
  expect((await app.inject('/call')).json()).toEqual({ one: 1 })
})

it('a queued call takes the place that a stream has left', async () => {
  const held: ServerResponse[] = []
  const origin = await upstream((request, response) => {
    if (request.url === '/call') sendJson(response, '1')
    else held.push(response)
  })
  const { app, port } = await before(origin, { maxConnections: 1, maxQueue: 1 })
  await dial(port, get('/events'))
  await expect.poll(() => held.length).toBe(1)
  const call = app.inject('/call').then(({ statusCode }) => statusCode)
  await expect.poll(() => statusOf(app)).toMatchObject({ pending: 2, streams: 0 })
  held[0]!.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
  expect(await call).toBe(200)
  expect(await statusOf(app)).toMatchObject({ pending: 0, streams: 1 })
})

it('beyond `maxStreams` are rejected immediately; calls are not', async () => {
  const { origin, paths } = await serving()
  const { app, port } = await before(origin, { maxStreams: 2 })
  const clients = [await dial(port, get('/events')), await dial(port, get('/events'))]
  await expect.poll(() => statusOf(app)).toMatchObject({ streams: 2 })
  for (const request of [
    '/events',
    { method: 'POST', url: '/upload', payload: 'x', headers: { 'content-type': 'a/b' } },
  ] as const) {
    const { statusCode, json } = await app.inject(request)
    expect([statusCode, json()]).toEqual([
      503,
      {
        statusCode: 503,
        code: 'AGGREGATOR_GATEWAY_OVERLOADED',
        error: 'Service Unavailable',
        message: 'The call to it was rejected: too many streams are open',
      },
    ])
  }
  expect(paths).toEqual(['/events', '/events'])
  expect((await app.inject('/call')).json()).toEqual({ one: 1 })
  clients[0]!.socket.destroy()
  await expect.poll(() => statusOf(app)).toMatchObject({ streams: 1 })
  const { said } = await dial(port, get('/events'))
  await expect.poll(() => said()).toContain('data: 1')
})

it('beyond `maxStreams` are rejected also when they begin at the same time', async () => {
  const held: ServerResponse[] = []
  const origin = await upstream((_, response) => void held.push(response))
  const { app, port } = await before(origin, { maxStreams: 1 })
  const clients = [await dial(port, get('/events')), await dial(port, get('/events'))]
  await expect.poll(() => held.length).toBe(2)
  for (const response of held) response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
  await expect.poll(() => clients.map(({ said }) => said().slice(9, 12)).toSorted()).toEqual(['200', '503'])
  await expect.poll(() => statusOf(app)).toMatchObject({ pending: 0, streams: 1 })
})

it('go to an origin below its maximum', async () => {
  const servers = await Promise.all([serving(), serving(), serving()])
  const { port } = await before(
    servers.map(({ origin }) => origin),
    { maxStreams: 1 },
  )
  for (let count = 0; count < 3; count++) {
    const { said } = await dial(port, get('/events'))
    await expect.poll(() => said()).toContain('data: 1')
  }
  expect(servers.map(({ streams }) => streams.size)).toEqual([1, 1, 1])
})

it('an upload is a stream until its response is read', async () => {
  const { origin } = await serving()
  const { app, port } = await before(origin, { maxStreams: 1 })
  const upload = httpRequest({ port, path: '/upload', method: 'POST', headers: { 'content-type': 'a/b' } })
  upload.write('12345')
  await expect.poll(() => statusOf(app)).toMatchObject({ pending: 0, streams: 1 })
  upload.end()
  const [response] = (await once(upload, 'response')) as [IncomingMessage]
  expect(response.resume().statusCode).toBe(200)
  await expect.poll(() => statusOf(app)).toMatchObject({ pending: 0, streams: 0 })
})

it.each<[string, (reply: FastifyReply) => unknown]>([
  ['header()', (reply) => reply.header('Content-Length', '3')],
  ['raw.setHeader()', (reply) => reply.raw.setHeader('content-length', '3')],
])('have their own length, whatever a hook sets by %s', async (_, setLength) => {
  const origin = await upstream(({ url }, response) => {
    if (url === '/unknown') response.write('123')
    setTimeout(() => response.end(url === '/unknown' ? '45' : '12345'), 20)
  })
  const app = await gateway({
    upstreams: { it: origin },
    endpoints: [{ path: '/:id', passThrough: { upstream: 'it', path: '/{params.id}' } }],
  })
  app.addHook('onRequest', async (_request, reply) => void setLength(reply))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  for (const [path, length] of [
    ['/known', '5'],
    ['/unknown', null],
  ]) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    expect([await response.text(), response.headers.get('content-length')]).toEqual(['12345', length])
  }
})
