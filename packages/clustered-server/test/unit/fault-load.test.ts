import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { onTestFinished, expect, it } from 'vitest'
import { connectTo, type Kind, RawConnection, startFaultLoad, type FaultReport } from '../helpers/fault-load.ts'

/** A server that does something wrong with each request, which it is told the number of in its connection. */
async function misbehaving(onRequest: (socket: Socket, number: number, id: string) => void): Promise<number> {
  const server: Server = createServer((socket) => {
    let number = 0
    socket.on('error', () => {})
    socket.on('data', (chunk) => onRequest(socket, ++number, /\/(\d+) HTTP/.exec(chunk.toString('latin1'))?.[1] ?? ''))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

function say(socket: Socket, body: string, head = ''): void {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n${head}\r\n${body}`)
}

/** What a load of one client makes of a server, as soon as it has made something of it. */
async function reportOf(port: number, kind: Kind = 'busy', isEnough?: () => boolean): Promise<FaultReport> {
  const load = startFaultLoad({ connect: connectTo(port), clients: { [kind]: 1 }, timeout: 100 })
  await expect.poll(isEnough ?? (() => true)).toBe(true)
  return load.stop()
}

it('counts valid responses', async () => {
  const port = await misbehaving((socket, _number, id) => say(socket, id))
  const report = await reportOf(port)
  expect(report).toMatchObject({ failed: 0, connections: 1, announced: 0, unannounced: 0, notes: [] })
  expect(report.kinds.busy?.answered).toBe(report.answered)
  expect(report.answered).toBeGreaterThan(0)
})

it('reads chunked responses, and continues after 100 Continue', async () => {
  const port = await misbehaving((socket, _number, id) => {
    socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n')
    setTimeout(() => socket.write(`\r\n${id.length.toString(16)}\r\n${id}\r`), 5)
    setTimeout(() => socket.write('\n0\r\n\r\n'), 10)
  })
  expect(await reportOf(port)).toMatchObject({ answered: expect.toBeOneOf([1, 2]) as number, failed: 0 })
})

it('detects a wrong response', async () => {
  const port = await misbehaving((socket) => say(socket, 'of another'))
  const { failures, answered, notes } = await reportOf(port)
  expect({ failures, answered }).toEqual({ failures: { wrongAnswer: 1 }, answered: 0 })
  expect(notes).toEqual([expect.stringMatching(/^\d+ ms busy: wrongAnswer after 1 answers$/)])
})

it('detects a status other than 200', async () => {
  const port = await misbehaving((socket, _number, id) =>
    socket.write(`HTTP/1.1 503 No\r\ncontent-length: ${id.length}\r\n\r\n${id}`),
  )
  expect((await reportOf(port)).failures).toEqual({ wrongAnswer: 1 })
})

it('detects a refused connection', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  expect((await reportOf(port)).failures).toEqual({ refused: 1 })
})

it('detects a reset of a new connection', async () => {
  const port = await misbehaving((socket) => socket.resetAndDestroy())
  expect((await reportOf(port)).failures).toEqual({ resetFresh: 1 })
})

it('detects a reset of a used connection', async () => {
  let isReset = false
  const port = await misbehaving((socket, number, id) => {
    if (number === 1) return say(socket, id)
    socket.resetAndDestroy()
    isReset = true
  })
  const { failures } = await reportOf(port, 'busy', () => isReset)
  expect(failures.resetReused).toBeGreaterThan(0)
  expect(Object.keys(failures)).toEqual(['resetReused'])
})

it('detects a close before a response', async () => {
  const port = await misbehaving((socket) => socket.end())
  expect((await reportOf(port)).failures).toEqual({ closedBefore: 1 })
})

it('detects a close within a head, a body and chunks', async () => {
  for (const part of ['HTTP/1.1 20', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf']) {
    const port = await misbehaving((socket) => socket.end(part))
    expect((await reportOf(port)).failures).toEqual({ closedWithin: 1 })
  }
  const port = await misbehaving((socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n1'))
  expect((await reportOf(port)).failures).toEqual({ closedWithin: 1 })
})

it('detects a missing and a partial response', async () => {
  expect((await reportOf(await misbehaving(() => {}))).failures).toEqual({ timeout: 1 })
  const port = await misbehaving((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'))
  expect((await reportOf(port)).failures).toEqual({ timeout: 1 })
})

it('distinguishes announced and unannounced closes', async () => {
  let closed = 0
  const announcing = await misbehaving((socket, _number, id) => {
    say(socket, id, 'Connection: close\r\n')
    socket.end()
    closed++
  })
  const report = await reportOf(announcing, 'thinking', () => closed > 2)
  expect(report).toMatchObject({ failed: 0, unannounced: 0, connections: report.announced })
  expect(report.announced).toBeGreaterThan(2)
})

it.each(['end', 'resetAndDestroy'] as const)('detects that an idle connection is closed by %s', async (how) => {
  let closed = 0
  const port = await misbehaving((socket, _number, id) => {
    say(socket, id)
    setTimeout(() => {
      socket[how]()
      closed++
    }, 10)
  })
  const connection = new RawConnection(connectTo(port)())
  expect(await connection.ask('GET /answer/1 HTTP/1.1\r\n\r\n')).toEqual([{ status: 200, body: '1' }])
  await connection.closed
  expect(connection).toMatchObject({ isClosed: true, isUnannounced: true, isAnnounced: false })
  expect(closed).toBe(1)
})

it('ignores connections that it closes itself', async () => {
  const port = await misbehaving((socket, _number, id) => say(socket, id))
  const connection = new RawConnection(connectTo(port)())
  await connection.ask('GET /answer/1 HTTP/1.1\r\n\r\n')
  connection.close()
  await once(connection.socket, 'close')
  expect(connection).toMatchObject({ isClosed: false, isUnannounced: false })
})

it('detects each failure of pipelined requests', async () => {
  const port = await misbehaving((socket) => {
    say(socket, 'not mine')
    socket.resetAndDestroy()
  })
  const { failures, answered } = await reportOf(port, 'pipelining')
  expect(answered).toBe(0)
  expect(Object.values(failures).reduce((a, b) => a + b)).toBe(4)
})

it('retries a request on a connection that was about to close', async () => {
  const port = await misbehaving((socket, _number, id) => {
    say(socket, id, 'connection: close\r\n')
    socket.end()
  })
  const connection = new RawConnection(connectTo(port)())
  const [first, second] = await connection.ask('GET /answer/1 HTTP/1.1\r\n\r\nGET /answer/2 HTTP/1.1\r\n\r\n', 2)
  expect(first).toEqual({ status: 200, body: '1' })
  expect(typeof second).toBe('symbol')
})

it('detects an unrequested response', async () => {
  const port = await misbehaving((socket, _number, id) => {
    say(socket, id)
    say(socket, id)
  })
  const connection = new RawConnection(connectTo(port)())
  await connection.ask('GET /answer/1 HTTP/1.1\r\n\r\n')
  await expect.poll(() => connection.isUnannounced).toBe(true)
  connection.close()
})

it.each(['trickling', 'uploading'] as const)('detects that a request is aborted while it is sent: %s', async (kind) => {
  const port = await misbehaving((socket) => socket.destroy())
  const { failures, answered } = await reportOf(port, kind)
  expect(answered).toBe(0)
  expect(Object.values(failures).reduce((a, b) => a + b)).toBe(1)
})
