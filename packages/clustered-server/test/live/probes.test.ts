import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type ClusteredServer, type ClusteredServerOptions, createClusteredServer } from '../../src/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { freePort } from '../helpers/free-port.ts'
import { settled } from '../helpers/running-server.ts'

const hello = new URL('../fixtures/apps/hello.ts', import.meta.url)
const options = { port: 0, host: '127.0.0.1', signals: false } as const

let server: ClusteredServer | undefined
afterEach(() => server?.close())

async function start(
  workers: number,
  more: ClusteredServerOptions = {},
  module: URL = hello,
): Promise<ClusteredServer> {
  server = await createClusteredServer(module, { ...options, admin: { port: 0, agentPort: 0 }, workers, ...more })
  return server
}

async function probe(path: string): Promise<number> {
  const { status } = await fetch(`http://127.0.0.1:${server!.admin!.port}${path}`)
  return status
}

async function agentCheck(): Promise<string> {
  const socket = connect(server!.admin!.agentPort!, '127.0.0.1').setEncoding('utf8')
  return (await socket.toArray()).join('')
}

async function app(): Promise<number> {
  const { status } = await fetch(`http://127.0.0.1:${server!.port}`, { headers: { connection: 'close' } })
  return status
}

describe.each([1, 2])('with %i workers', (workers) => {
  it('/live is 200 and /ready 503 until the app is loaded', async () => {
    const port = await freePort()
    const asking = new URL('../fixtures/apps/asks-while-loading.ts', import.meta.url)
    await start(workers, { admin: { port }, env: { ADMIN_PORT: String(port) } }, asking)
    expect(await (await fetch(`http://127.0.0.1:${server!.port}`)).text()).toBe('200,503')
    expect([await probe('/live'), await probe('/ready')]).toEqual([200, 200])
  })

  it('/ready is 503 after a stop signal, while connections are accepted for shutdownDelay', async () => {
    await start(workers, { shutdownDelay: 2000 })
    expect([await probe('/ready'), await agentCheck()]).toEqual([200, 'ready up 100%\n'])
    const closed = server!.close()
    // What it is asked now it answers before the delay is over, on a machine that is not ten times as slow.
    expect([await probe('/ready'), await probe('/live'), await agentCheck()]).toEqual([503, 200, 'drain\n'])
    expect(await app()).toBe(200)
    expect(server!.status().ready).toBe(false)
    await closed
    await expect(app()).rejects.toThrow('fetch failed')
    await expect(probe('/live')).rejects.toThrow('fetch failed')
  })

  it('kill() ends the server during shutdownDelay', async () => {
    await start(workers, { shutdownDelay: 2 ** 30 })
    const closed = server!.close()
    server!.kill()
    await closed
    await expect(app()).rejects.toThrow('fetch failed')
  })

  it('awaits onShutdown after all workers have ended', async () => {
    const seen: unknown[] = []
    const onShutdown = async (): Promise<void> => {
      seen.push(server!.status().workers.length, await app().catch(() => 'nobody answers'))
    }
    await start(workers, { onShutdown })
    await server!.close()
    expect(seen).toEqual([0, 'nobody answers'])
  })

  it('responds 404 and 405 with the known paths and methods', async () => {
    await start(workers)
    const origin = `http://127.0.0.1:${server!.admin!.port}`
    const other = await fetch(`${origin}/`)
    expect([other.status, await other.text()]).toEqual([404, 'Not found. Paths: /live, /ready, /status, /metrics\n'])
    expect((await fetch(`${origin}/ready`, { method: 'POST' })).status).toBe(405)
    expect((await fetch(`${origin}/ready?from=kubelet`, { method: 'HEAD' })).status).toBe(200)
  })
})

it.each([1, 2])('admin ports are on 127.0.0.1 by default, with %i workers', async (workers) => {
  const bound = { workers, port: 0, host: '::', signals: false, admin: { port: 0, agentPort: 0 } }
  const open = await createClusteredServer(new URL('../fixtures/apps/hello.ts', import.meta.url), bound)
  try {
    const { host, port, agentPort } = open.admin!
    expect([open.host, host]).toEqual(['::', '127.0.0.1'])
    for (const own of [port, agentPort!]) {
      const other = connect({ host: '127.0.0.2', port: own })
      const [{ code }] = (await once(other, 'error')) as [NodeJS.ErrnoException]
      expect(code).toBe('ECONNREFUSED')
    }
  } finally {
    await open.close()
  }
})

it('replaces a worker that dies during shutdownDelay', async () => {
  await start(2, { shutdownDelay: 2 ** 30, standby: false })
  const [worker] = server!.status().workers
  const closed = server!.close()
  const replaced = once(server!, 'workerReady')
  process.kill(worker!.pid!, 'SIGKILL')
  expect(await replaced).toMatchObject([{ id: 3 }])
  server!.kill()
  await closed
})

it('/ready is 503 without an active worker', async () => {
  await start(2, { standby: false })
  // The second death in a row waits for a while before a new one is started.
  for (const { pid } of server!.status().workers) process.kill(pid!, 'SIGKILL')
  await eventually(async () => (await probe('/ready')) === 503 || undefined)
  await eventually(async () => (await probe('/ready')) === 200 || undefined)
})

it('/status has the result of status() and counts of reloads', async () => {
  await start(2)
  await server!.reload()
  // Those that are replaced leave meanwhile, each at its own time.
  await settled(server!)
  const status = await (await fetch(`http://127.0.0.1:${server!.admin!.port}/status`)).json()
  const { workers, ...more } = status as { workers: { id: number }[] }
  expect(more).toEqual({
    ...{ pid: process.pid, ready: true, generation: 2, size: 2, reloads: 1, failedReloads: 0 },
    ...{ admin: server!.admin, stopTimeout: 27_000, startedAt: expect.any(Number) },
  })
  expect(workers.map(({ id }) => id)).toEqual(server!.status().workers.map(({ id }) => id))
})

it.each(['port', 'agentPort'] as const)(
  'a taken %s of admin fails the start, and leaves nothing behind',
  async (name) => {
    const other = await createClusteredServer(hello, { ...options, workers: 1 })
    try {
      const port = await freePort()
      const admin = { port, agentPort: 0, [name]: other.port }
      const failing = createClusteredServer(hello, { ...options, workers: 2, admin })
      await expect(failing).rejects.toMatchObject({ code: 'CLUSTERED_SERVER_CANNOT_LISTEN' })
      // It is free again.
      if (name === 'agentPort') await start(1, { admin: { port } })
    } finally {
      await other.close()
    }
  },
)
