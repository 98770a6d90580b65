import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { queryObjects } from 'node:v8'
import { expect, it, onTestFinished } from 'vitest'
import { type ClusteredServer, createClusteredServer } from '../../src/index.ts'
import { Primary } from '../../src/primary/primary.ts'
import { SingleProcess } from '../../src/server/single-process.ts'
import { WorkerHandle } from '../../src/primary/worker-handle.ts'
import type { Retained } from '../fixtures/apps/watched.ts'
import { eventually } from '../helpers/eventually.ts'
import { settled, startServer } from '../helpers/running-server.ts'

const run = promisify(execFile)
const CONNECTIONS = 60
const execArgv = ['--expose-gc']

/** A connection that stays, which has had a response; `pid` is of the process that it came from. */
async function kept(port: number): Promise<{ socket: Socket; ask: () => Promise<string> }> {
  const socket = connect({ port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  const ask = async (): Promise<string> => {
    socket.write('GET /keep HTTP/1.1\r\nhost: test\r\n\r\n')
    const [data] = (await once(socket, 'data')) as [Buffer]
    return /\r\n\r\n(\d+)$/.exec(String(data))![1]!
  }
  return { socket, ask }
}

/** What a worker retains: a new connection may go to any. */
function retainedIn(server: ClusteredServer, pid: number): Promise<Retained> {
  return eventually(async () => {
    const response = await fetch(`http://127.0.0.1:${server.port}/retained`, { headers: { connection: 'close' } })
    const retained = (await response.json()) as Retained
    return retained.pid === pid ? retained : undefined
  })
}

const none = { sockets: 0, requests: 0, responses: 0 }

it('a worker retains nothing of closed connections', async () => {
  const server = await startServer('watched.ts', { standby: false, execArgv })
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => kept(server.port)))
  const pids = new Set(await Promise.all(connections.map(({ ask }) => ask())))
  for (const { socket } of connections) socket.destroy()
  for (const pid of pids) await expect.poll(() => retainedIn(server, Number(pid))).toMatchObject(none)
})

it('no worker retains anything of handed over connections', async () => {
  const server = await startServer('watched.ts', { standby: false, execArgv })
  await server.scale(1)
  await eventually(() => server.status().workers.length === 1 || undefined)
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => kept(server.port)))
  const [first] = await Promise.all(connections.map(({ ask }) => ask()))
  await server.scale(2)
  const second = server.status().workers.find(({ pid }) => pid !== Number(first))!.pid!
  const countOf = (pid: number): number => server.status().workers.find((one) => one.pid === pid)!.connections
  await eventually(() => countOf(second) > CONNECTIONS / 4 || undefined)
  // Nothing that has gone, and nothing that was on its way.
  await expect.poll(() => retainedIn(server, Number(first))).toMatchObject(none)
  const pids = await Promise.all(connections.map(({ ask }) => ask()))
  expect(pids.filter((pid) => pid === String(second)).length).toBeGreaterThan(CONNECTIONS / 4)
  for (const { socket } of connections) socket.destroy()
  await expect.poll(() => retainedIn(server, Number(first))).toMatchObject(none)
  await expect.poll(() => retainedIn(server, second)).toMatchObject(none)
})

it('the primary retains no ended worker', async () => {
  const server = await startServer('measured.ts', { admin: { port: 0 } })
  await settled(server)
  const askMetrics = async (): Promise<unknown> =>
    (await fetch(`http://127.0.0.1:${server.admin!.port}/metrics`)).text()
  await askMetrics()
  for (let reload = 0; reload < 4; reload++) await server.reload()
  await settled(server)
  // What they had counted is added up when it is asked for, once a second.
  await wait(1100)
  await askMetrics()
  expect(queryObjects(WorkerHandle, { format: 'count' })).toBe(server.status().workers.length)
})

it.each([1, 2])('a closed server is garbage-collected, with %i workers', async (workers) => {
  // Each test's own reference ends with this function.
  await (async () => {
    const url = new URL('../fixtures/apps/hello.ts', import.meta.url)
    const server = await createClusteredServer(url, { workers, port: 0, host: '127.0.0.1', admin: { port: 0 } })
    await server.close()
  })()
  const left = (): number =>
    [SingleProcess, Primary].reduce((sum, kind) => sum + queryObjects(kind, { format: 'count' }), 0)
  await eventually(() => left() === 0 || undefined)
})

it('an ended task is garbage-collected', async () => {
  const script = `
    import { setTimeout as wait } from 'node:timers/promises'
    import { runOnOneWorker } from '${new URL('../../src/index.ts', import.meta.url).href}'
    const refs = []
    for (let time = 0; time < 100; time++)
      runOnOneWorker(async () => {
        const result = { bytes: new Uint8Array(1000) }
        refs.push(new WeakRef(result))
        return result
      })
    await wait(50)
    gc()
    console.log(refs.length, refs.filter((ref) => ref.deref()).length)
  `
  const { stdout } = await run(process.execPath, [...execArgv, '--input-type=module', '--eval', script])
  expect(stdout).toBe('100 0\n')
})
