// Apps that listen on more than the server's port, such as for metrics or gRPC: all workers share each of them.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import type { ClusteredServer } from '../../src/index.ts'
import { connectTo, startFaultLoad } from '../helpers/fault-load.ts'
import { freePort } from '../helpers/free-port.ts'
import { settled, startServer } from '../helpers/running-server.ts'

interface Told {
  pid: number
  /** The second port, a third one on any port, and the path of a socket. */
  second: [number, number, string?]
}

type Where = { port: number; host: string } | { socketPath: string }

async function ask(where: Where, wait = 0): Promise<Told> {
  const request = get({ ...where, path: `/${wait}`, agent: false })
  const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream]
  return JSON.parse(await text(response)) as Told
}

function activePids(server: ClusteredServer): (number | undefined)[] {
  const active = server.status().workers.filter(({ state }) => state === 'active')
  return active.map(({ pid }) => pid)
}

/** Resolves once all workers that take connections, and those in reserve, have responded at an address. */
async function respondents(server: ClusteredServer, where: Where): Promise<void> {
  const seen = new Set<number | undefined>()
  await expect
    .poll(
      async () => {
        for (const { pid } of await Promise.all(Array.from({ length: 8 }, () => ask(where, 20)))) seen.add(pid)
        return activePids(server).filter((pid) => !seen.has(pid))
      },
      { timeout: 30_000 },
    )
    .toEqual([])
}

function socketPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'clustered-server-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'second.sock')
}

it('shares a second port, one on any port and a UNIX socket between all workers', async () => {
  const [port, path] = [await freePort(), socketPath()]
  const server = await startServer('two-ports.ts', { env: { SECOND_PORT: String(port), SECOND_SOCKET: path } })
  await settled(server)
  const second = { port, host: '127.0.0.1' }
  await respondents(server, second)
  await respondents(server, { socketPath: path })
  // Any port is the same one for all of them.
  const told = await Promise.all(Array.from({ length: 20 }, () => ask(second)))
  const [{ second: addresses }] = told as [Told]
  expect(told.map((one) => one.second)).toEqual(told.map(() => addresses))
  expect(addresses).toEqual([port, expect.any(Number), path])
  await respondents(server, { port: addresses[1], host: '127.0.0.1' })
  await server.close()
  await expect(ask(second)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  await expect(ask({ socketPath: path })).rejects.toMatchObject({ code: 'ENOENT' })
})

it('loses no request on either port by reloads, and frees what the new version does not listen on', async () => {
  const [port, path] = [await freePort(), socketPath()]
  const env: Record<string, string> = { SECOND_PORT: String(port), SECOND_SOCKET: path }
  const server = await startServer('two-ports.ts', { env: () => env })
  await settled(server)
  const second = { port, host: '127.0.0.1' }
  const load = startFaultLoad({ connect: connectTo(server.port), clients: { busy: 2, slow: 4, short: 1 } })
  const ends = new AbortController()
  const asked: Promise<Told>[] = []
  const client = async (): Promise<void> => {
    while (!ends.signal.aborted) {
      const told = ask(second, 100)
      asked.push(told)
      await told
    }
  }
  const clients = Array.from({ length: 4 }, client)
  for (let reload = 0; reload < 2; reload++) await server.reload()
  ends.abort()
  await Promise.all(clients)
  expect(new Set((await Promise.all(asked)).map(({ pid }) => pid)).size).toBeGreaterThan(2)
  expect(await load.stop()).toMatchObject({ notes: [], failed: 0, unannounced: 0, unserved: [] })
  delete env['SECOND_SOCKET']
  await server.reload()
  await settled(server)
  await expect(ask({ socketPath: path })).rejects.toMatchObject({ code: 'ENOENT' })
  await ask(second)
})

it('listens on a second port again when all workers were killed', async () => {
  const port = await freePort()
  const server = await startServer('two-ports.ts', { env: { SECOND_PORT: String(port) }, standby: false })
  const second = { port, host: '127.0.0.1' }
  const { second: before } = await ask(second)
  for (const pid of activePids(server)) process.kill(pid!, 'SIGKILL')
  // The socket stays open: requests wait for the next worker.
  const { second: after } = await ask(second)
  expect(after).toEqual(before)
})

it('does not start when a second port is taken', async () => {
  const { port } = await startServer('hello.ts')
  await expect(startServer('two-ports.ts', { env: { SECOND_PORT: String(port) } })).rejects.toMatchObject({
    code: 'CLUSTERED_SERVER_START_FAILED',
  })
})

it('leaves a socket that an app has bound itself to the app', async () => {
  const server = await startServer('own-handle.ts')
  const response = await fetch(`http://127.0.0.1:${server.port}/pid`, { headers: { connection: 'close' } })
  expect(activePids(server).map(String)).toContain(await response.text())
})

it.each([1, 2])('closes the UNIX sockets of a worker that has died: %i workers died', async (deaths) => {
  const path = socketPath()
  let started = 0
  const env = (): Record<string, string> => ({ SECOND_PORT: '0', SECOND_SOCKET: `${path}.${++started}` })
  const server = await startServer('two-ports.ts', { env, standby: false })
  for (const pid of activePids(server).slice(0, deaths)) process.kill(pid!, 'SIGKILL')
  await expect.poll(() => existsSync(`${path}.1`), { timeout: 30_000 }).toBe(false)
  await expect.poll(() => existsSync(`${path}.${2 + deaths}`), { timeout: 30_000 }).toBe(true)
})
