import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { io, type Socket } from 'socket.io-client'
import { expect, it, onTestFinished } from 'vitest'
import { settled, startServer } from '../helpers/running-server.ts'

const isFull = process.env['RELOADS'] !== undefined
const [CLIENTS, RELOADS] = isFull ? [200, 5] : [40, 2]

/** An agent of a client with an address of its own: all of 127.0.0.0/8 is this machine. */
function agentOf(index: number, keepAlive = false): Agent {
  const agent = new Agent({ localAddress: `127.0.${1 + (index >> 8)}.${index & 255}`, keepAlive })
  onTestFinished(() => agent.destroy())
  return agent
}

const onLinux = it.runIf(process.platform === 'linux')

function client(port: number, index: number): Socket {
  // Long polling comes first, as by default, and each poll may use a connection of its own. A message on its way when the
  // connection ends is sent again.
  const socket = io(`http://127.0.0.1:${port}`, {
    ...{ agent: agentOf(index) as never, forceNew: true },
    ...{ reconnectionDelay: 50, retries: 20, ackTimeout: 2000 },
  })
  onTestFinished(() => void socket.close())
  return socket
}

async function echo(socket: Socket, text: string): Promise<number> {
  const [error, echoed, pid] = await new Promise<[Error | null, string, number]>((resolve) =>
    socket.emit('echo', text, (...reply: [Error | null, string, number]) => resolve(reply)),
  )
  expect([error, echoed]).toEqual([null, text])
  return pid
}

onLinux(
  'clients of Socket.IO connect, and after a reload connect again',
  { timeout: 300_000 },
  async ({ annotate }) => {
    const server = await startServer('socket-io.ts', { sticky: 'address', workers: 2 })
    const sockets = Array.from({ length: CLIENTS }, (_, index) => client(server.port, index + 1))
    const refused: string[] = []
    let disconnects = 0
    for (const socket of sockets) {
      socket.on('connect_error', ({ message }) => refused.push(message))
      socket.on('disconnect', () => disconnects++)
    }
    const pids = new Set(await Promise.all(sockets.map((socket, index) => echo(socket, `${index}`))))
    expect(pids.size).toBe(2)
    expect(refused).toEqual([])
    for (let reload = 1; reload <= RELOADS; reload++) {
      await server.reload()
      await settled(server)
      await Promise.all(sockets.map((socket, index) => echo(socket, `${reload} ${index}`)))
    }
    await annotate(`${disconnects} announced reconnects`)
    expect(sockets.filter(({ connected }) => !connected)).toEqual([])
  },
)

onLinux('serves all connections of an address by one worker, with keep-alive or without', async () => {
  const server = await startServer('socket-io.ts', { sticky: 'address', workers: 3 })
  const ask = (agent: Agent): Promise<string> =>
    new Promise((resolve, reject) => {
      get({ port: server.port, host: '127.0.0.1', agent }, (response) => {
        response.setEncoding('utf8').once('data', resolve)
      }).once('error', reject)
    })
  const served = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const agent = agentOf(index + 1, index % 2 === 0)
      return new Set(await Promise.all(Array.from({ length: 8 }, () => ask(agent))))
    }),
  )
  expect(served.filter(({ size }) => size !== 1)).toEqual([])
  expect(new Set(served.flatMap((pids) => [...pids])).size).toBe(3)
})

onLinux('keeps addresses on their workers while others join and leave', async () => {
  const server = await startServer('socket-io.ts', { sticky: 'address', workers: 2 })
  const sockets = Array.from({ length: 40 }, (_, index) => client(server.port, index + 1))
  await Promise.all(sockets.map((socket) => echo(socket, 'first')))
  await server.scale(4)
  const disconnected: number[] = []
  for (const [index, socket] of sockets.entries()) socket.on('disconnect', () => disconnected.push(index))
  await sleep(1000)
  await Promise.all(sockets.map((socket) => echo(socket, 'second')))
  expect(disconnected).toEqual([])
})

it('rejects an app whose connections cannot be handed over', async () => {
  await expect(startServer('secure.ts', { sticky: 'address' })).rejects.toMatchObject({
    message: expect.stringContaining('The option "sticky" needs an HTTP/1 server without TLS'),
  })
})

it('rejects a UNIX socket, whose clients have no address', async () => {
  await expect(startServer('hello.ts', { sticky: 'address', port: '/tmp/sticky.sock' })).rejects.toMatchObject({
    code: 'CLUSTERED_SERVER_INVALID_OPTION',
  })
})
