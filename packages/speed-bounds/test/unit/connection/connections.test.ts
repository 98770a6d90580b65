import { createServer, type RequestListener } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { connectTo, sendOnce } from '../../../src/connection/connect-to.ts'
import type { Connection, RepeatedRequest } from '../../../src/connection/connection.ts'

const cleanUps: (() => void)[] = []
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp()
})

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  cleanUps.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const serve = (listener: RequestListener): Promise<string> => listen(createServer(listener))
/** A server that writes bytes for each chunk it reads. */
const serveBytes = (respond: (socket: Socket, chunk: Buffer) => void): Promise<string> =>
  listen(
    createTcpServer((socket) => socket.on('data', (chunk: Buffer) => respond(socket, chunk)).on('error', () => {})),
  )

const REQUEST: Omit<RepeatedRequest, 'origin'> = {
  protocol: 'http1',
  method: 'GET',
  path: '/',
  headers: {},
  body: undefined,
  keepAlive: true,
}

function open(origin: string, request: Partial<RepeatedRequest> = {}): Connection {
  const connection = connectTo({ ...REQUEST, origin, ...request })()
  cleanUps.push(() => connection.close())
  return connection
}

/** The outcome of a request: its status, or the message of its error. */
const send = (connection: Connection): Promise<number | string> =>
  new Promise((resolve) =>
    connection.send((outcome) => resolve(typeof outcome === 'number' ? outcome : outcome.message)),
  )

const CLOSED = 'The connection was closed before the response ended.'

describe('HTTP/1.1', () => {
  it('sends method, path, headers and body, and several requests over one connection', async () => {
    const seen: unknown[] = []
    const origin = await serve((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        const { method, url, headers, socket } = request
        seen.push([method, url, headers['host'], headers['x-name'], body, socket.remotePort])
        response.writeHead(201).end('done')
      })
    })
    const connection = open(origin, { method: 'PUT', path: '/a?b=c', headers: { 'X-Name': 'value' }, body: 'grün' })
    expect(await send(connection)).toBe(201)
    expect(connection.free).toBe(1)
    expect(await send(connection)).toBe(201)
    expect(seen[0]).toEqual(['PUT', '/a?b=c', new URL(origin).host, 'value', 'grün', expect.any(Number)])
    expect(seen[1]).toEqual(seen[0])
  })

  it.each([
    ['chunks', 'transfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n'],
    ['a length', 'content-length: 2\r\n\r\nab'],
    ['the end of the connection', '\r\nab'],
  ])('reads a body that ends by %s, in pieces of one byte', async (_, rest) => {
    const origin = await serveBytes((socket) => {
      const bytes = Buffer.from(`HTTP/1.1 200 OK\r\n${rest}`)
      for (const byte of bytes) socket.write(Buffer.of(byte))
      if (!rest.includes('-')) socket.end()
    })
    expect(await send(open(origin))).toBe(200)
  })

  it('expects no body of a response to HEAD, to 204 and to 304', async () => {
    const connection = open(await serve((_, response) => response.writeHead(200, { 'content-length': 5 }).end()), {
      method: 'HEAD',
    })
    expect([await send(connection), await send(connection)]).toEqual([200, 200])
    for (const status of [204, 304]) {
      const empty = open(await serve((_, response) => response.writeHead(status).end()))
      expect([await send(empty), await send(empty)]).toEqual([status, status])
    }
  })

  it('ignores informational responses', async () => {
    const origin = await serveBytes((socket) =>
      socket.write('HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
    )
    expect(await send(open(origin))).toBe(200)
  })

  it('is not used again after connection: close, nor shortly before the server closes an idle connection', async () => {
    const closing = open(await serve((_, response) => response.writeHead(200, { connection: 'close' }).end()))
    expect(await send(closing)).toBe(200)
    expect(closing.free).toBe(0)
    const origin = await serveBytes((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nKeep-Alive: timeout=1\r\n\r\n'),
    )
    const idle = open(origin)
    expect(await send(idle)).toBe(200)
    await expect.poll(() => idle.free).toBe(0)
  })

  it.each([
    ['closes the connection', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab'), CLOSED],
    ['resets the connection', (socket: Socket) => socket.resetAndDestroy(), 'read ECONNRESET'],
    ['does not speak HTTP', (socket: Socket) => socket.write('220 ESMTP\r\n'), 'Parse Error'],
  ])('a request fails if the server %s', async (_, respond, message) => {
    const connection = open(await serveBytes(respond))
    expect(await send(connection)).toBe(message)
    expect(connection.free).toBe(0)
  })

  it('a request fails if nobody listens', async () => {
    const server = createTcpServer()
    const origin = await listen(server)
    await new Promise((resolve) => server.close(resolve))
    expect(await send(open(origin))).toMatch(/ECONNREFUSED/)
  })
})

describe('HTTP/2', () => {
  it('has several requests over one connection at the same time, as many as the server allows', async () => {
    let open2 = 0
    let most = 0
    const server = createHttp2Server({ settings: { maxConcurrentStreams: 3 } }, (request, response) => {
      most = Math.max(most, ++open2)
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () =>
        setImmediate(() => {
          open2--
          response.writeHead(body === 'hi' && request.method === 'POST' && request.url === '/x' ? 200 : 500).end('ok')
        }),
      )
    })
    const connection = open(await listen(server), { protocol: 'http2', method: 'POST', path: '/x', body: 'hi' })
    expect(await send(connection)).toBe(200)
    expect(connection.free).toBe(3)
    const outcomes = [send(connection), send(connection), send(connection)]
    expect(connection.free).toBe(0)
    expect(await Promise.all(outcomes)).toEqual([200, 200, 200])
    expect(connection.free).toBe(3)
    expect(most).toBeGreaterThan(1)
  })

  it('a request fails if the server resets its stream or does not speak HTTP/2', async () => {
    const resetting = createHttp2Server((request) => request.stream.close(2))
    expect(await send(open(await listen(resetting), { protocol: 'http2' }))).toMatch(/INTERNAL_ERROR/)
    const http1 = await serve((_, response) => response.end())
    const connection = open(http1, { protocol: 'http2' })
    expect(await send(connection)).toBeTypeOf('string')
    expect(connection.free).toBe(0)
  })
})

describe('WebSocket', () => {
  function echo(
    onMessage: (message: string, reply: (text: string) => void, close: () => void) => void,
  ): Promise<string> {
    const server = createServer()
    new WebSocketServer({ server, path: '/echo' }).on('connection', (socket) =>
      socket.on('message', (data: Buffer) =>
        onMessage(
          data.toString(),
          (text) => socket.send(text),
          () => socket.terminate(),
        ),
      ),
    )
    return listen(server)
  }

  it('sends messages one after the other, each after the reply to the one before', async () => {
    const seen: string[] = []
    const origin = await echo((message, reply) => {
      seen.push(message)
      reply(message)
    })
    const connection = open(origin, { protocol: 'websocket', path: '/echo', body: 'hello' })
    expect([await send(connection), await send(connection)]).toEqual([200, 200])
    expect(seen).toEqual(['hello', 'hello'])
    expect(connection.free).toBe(1)
  })

  it('a request fails if the server closes the connection, or has no WebSocket at its path', async () => {
    const origin = await echo((_, __, close) => close())
    for (const path of ['/echo', '/other']) {
      const connection = open(origin, { protocol: 'websocket', path, body: 'hello' })
      expect(await send(connection)).toBe('The WebSocket was closed, or could not be opened.')
      expect(connection.free).toBe(0)
    }
  })
})

it('a canceled request never ends, and closes its connection', async () => {
  const origin = await serve(() => {})
  const connection = open(origin)
  let ends = 0
  connection.send(() => ends++)()
  expect(connection.free).toBe(0)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(ends).toBe(0)
})

it('one request ends with the signal', async () => {
  const origin = await serve(() => {})
  const reason = new Error('too late')
  const controller = new AbortController()
  const sent = sendOnce({ ...REQUEST, origin }, controller.signal)
  controller.abort(reason)
  await expect(sent).rejects.toBe(reason)
})
