// What is done on Windows, where no process inherits the socket of another one: here the primary is told that this is so.

import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import type { ClusteredServer } from '../../src/index.ts'
import { connectTo, mixed, RawConnection, startFaultLoad } from '../helpers/fault-load.ts'
import { settled, startServer } from '../helpers/running-server.ts'

vi.mock(import('../../src/platform/windows-port.ts'), async (original) => ({
  ...(await original()),
  canInheritSockets: () => false,
}))

it.each(['faults.ts', 'listens.ts', 'fastify.ts'])('%s runs in workers that share a port', async (app) => {
  const server = await startServer(app)
  const answered = new Set<string>()
  await expect.poll(async () => answered.add(await body(server, '/pid')).size).toBe(2)
  expect(activeOf(server).map(({ pid }) => String(pid))).toEqual(expect.arrayContaining([...answered]))
})

it(
  'workers that share a port lose no request on reloads, and close each connection with notice',
  { timeout: 300_000 },
  async () => {
    const warn = vi.fn<(about: object, message: string) => void>()
    const server = await startServer('faults.ts', { logger: { info: () => {}, warn, error: () => {} } })
    const text = expect.stringContaining('a reload closes connections after their last response') as string
    expect(warn.mock.calls).toEqual([[{ platform: process.platform }, text]])
    const load = startFaultLoad({ connect: connectTo(server.port), clients: mixed })
    for (let reload = 0; reload < 5; reload++) {
      await server.reload()
      await wait(Math.random() * 200)
    }
    const report = await load.stop()
    expect(report).toMatchObject({ notes: [], failed: 0, unannounced: 0, unserved: [] })
    expect(report.announced).toBeGreaterThan(0)
  },
)

it('workers that share a port grow and shrink without losing a request', { timeout: 300_000 }, async () => {
  const server = await startServer('faults.ts')
  const load = startFaultLoad({ connect: connectTo(server.port), clients: mixed })
  for (const workers of [4, 1, 3, 2]) {
    await server.scale(workers)
    expect(activeOf(server)).toHaveLength(workers)
    await wait(200)
  }
  expect(await load.stop()).toMatchObject({ notes: [], failed: 0, unannounced: 0, unserved: [] })
  await settled(server)
})

it('workers that share a port are replaced when they die', async () => {
  const server = await startServer('faults.ts')
  await settled(server)
  for (const { pid } of activeOf(server)) {
    const ready = once(server, 'workerReady')
    process.kill(pid!, 'SIGKILL')
    await ready
    await settled(server)
  }
  expect(await body(server, '/answer/1')).toBe('1')
})

it('workers that share a port leave the port to others when they are closed', async () => {
  const server = await startServer('faults.ts')
  const connection = new RawConnection(connectTo(server.port)())
  const ask = 'GET /answer/1 HTTP/1.1\r\nhost: test\r\n\r\n'
  expect(await connection.ask(ask)).toEqual([{ status: 200, body: '1' }])
  const { port } = server
  await server.close()
  expect(connection).toMatchObject({ isClosed: true })
  ;(await listening(port)).close()
})

it('workers that share a port do not start if the port is in use', async () => {
  const other = await listening(0)
  const { port } = other.address() as { port: number }
  await expect(startServer('faults.ts', { port })).rejects.toMatchObject({
    code: 'CLUSTERED_SERVER_CANNOT_LISTEN',
    message: expect.stringContaining('EADDRINUSE') as string,
  })
  other.close()
})

function activeOf(server: ClusteredServer): ReturnType<ClusteredServer['status']>['workers'] {
  return server.status().workers.filter(({ state }) => state === 'active')
}

async function body({ port }: ClusteredServer, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })
  return response.text()
}

async function listening(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}
