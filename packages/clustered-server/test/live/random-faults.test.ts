// Faults of all kinds, one after the other by chance, under load. FAULT_MINUTES=30 makes it long.

import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { ClusteredServer, WorkerName } from '../../src/index.ts'
import { connectTo, mixed, RawConnection, startFaultLoad } from '../helpers/fault-load.ts'
import { childrenOf, descriptorsOf, identityOf, settled, startServer } from '../helpers/running-server.ts'

const minutes = Number(process.env['FAULT_MINUTES'] ?? 0.5)

/** Versions that do not start. */
const BROKEN = ['throws', 'exits', 'dies as it listens', 'hangs']

/** Deaths in a row until a reload. With ten, the server takes it for a crash loop. */
const MOST_DEATHS = 6

type Worker = ReturnType<ClusteredServer['status']>['workers'][number]

it(
  `${minutes} minutes of faults lose only requests on killed workers, and leave nothing behind`,
  { timeout: minutes * 60_000 + 300_000 },
  async ({ annotate }) => {
    const versions = { VERSION: 'good' }
    const server = await startServer('version.ts', {
      env: () => ({ ...versions }),
      // Longer than an app takes to load on a machine where much else runs.
      startTimeout: 15_000,
      heartbeatTimeout: 2000,
      // Shorter than most live without it: others die and are reloaded.
      recycle: { age: 8000 },
    })
    // Within 30 minutes the system gives their numbers to others again.
    const started: (string | undefined)[] = []
    let recycled = 0
    server.on('workerStart', ({ pid }) => started.push(identityOf(pid!)))
    server.on('recycle', () => recycled++)
    started.push(...server.status().workers.map(({ pid }) => identityOf(pid!)))
    await settled(server)
    const atFirst = remains(server)

    const load = startFaultLoad({ connect: connectTo(server.port), clients: mixed, timeout: 20_000 })
    let workers = 2
    let deaths = 0
    /** The most that may be lost, which is all that was on those that died. */
    let most = 0
    const active = (): Worker[] => server.status().workers.filter(({ state }) => state === 'active')
    const victim = (): Worker => oneOf(active())
    /** Counts what is lost with a worker: what was on it, and what it took since it has last said how much that is. */
    const dies = (id: number, known: readonly Worker[]): void => {
      deaths++
      const of = (all: readonly Worker[]): number => all.find((worker) => worker.id === id)?.connections ?? 0
      most += Math.max(of(known), of(server.status().workers)) + 10
    }

    /** Of those that lose nothing, each is held to that. */
    const harmless: Record<string, () => Promise<void>> = {
      reload: async () => {
        await server.reload()
        deaths = 0
      },
      'a broken version': async () => {
        versions.VERSION = oneOf(BROKEN)
        await expect(server.reload()).rejects.toMatchObject({ code: 'CLUSTERED_SERVER_RELOAD_FAILED' })
        versions.VERSION = 'good'
      },
      scale: async () => {
        workers = oneOf([1, 2, 3, 4].filter((count) => count !== workers))
        await server.scale(workers)
      },
      'a pause': async () => {
        const { pid } = victim()
        process.kill(pid!, 'SIGSTOP')
        await wait(300)
        process.kill(pid!, 'SIGCONT')
      },
      'a kill of the one in reserve': async () => {
        const standby = server.status().workers.find(({ state }) => state === 'standby')
        // It may have taken the place of one that is recycled.
        if (!standby) return
        deaths++
        process.kill(standby.pid!, 'SIGKILL')
        await once(server, 'workerExit')
      },
    }
    const harmful: Record<string, () => Promise<void>> = {
      'kill -9': async () => {
        const { id, pid } = victim()
        const exited = once(server, 'workerExit')
        dies(id, active())
        process.kill(pid!, 'SIGKILL')
        await exited
      },
      'a loop without end': async () => {
        const before = active()
        const stuck = once(server, 'workerBlocked') as Promise<[WorkerName]>
        const connection = new RawConnection(connectTo(server.port)(), 60_000)
        void connection.ask('GET /block HTTP/1.1\r\nhost: test\r\n\r\n')
        const [{ id }] = await stuck
        dies(id, before)
        await connection.closed
      },
      'a stop for good': async () => {
        const { id, pid } = victim()
        const before = active()
        const stuck = once(server, 'workerBlocked')
        process.kill(pid!, 'SIGSTOP')
        await stuck
        dies(id, before)
      },
    }

    await expect.poll(() => sum(active()), { timeout: 30_000 }).toBeGreaterThan(40)
    const surprises: string[] = []
    const done: Record<string, number> = {}
    for (const end = performance.now() + minutes * 60_000; performance.now() < end;) {
      const isCalm = Math.random() < 0.5
      const name = deaths >= MOST_DEATHS ? 'reload' : oneOf(Object.keys(isCalm ? harmless : harmful))
      done[name] = (done[name] ?? 0) + 1
      const { lost } = load
      await (harmless[name] ?? harmful[name]!)()
      await settled(server, workers)
      // By then all clients have seen what has become of their connections.
      await wait(1000)
      if (name in harmless && load.lost > lost) surprises.push(`${load.lost - lost} lost by ${name}`)
    }
    const report = await load.stop()
    const { answered, failed, failures, unannounced } = report
    await annotate(`${JSON.stringify(done)}, ${recycled} recycled, ${started.length} processes`)
    await annotate(JSON.stringify({ answered, failed, failures, unannounced, most }))
    expect(surprises).toEqual([])
    expect(report).toMatchObject({ unserved: [], announced: 0 })
    const {
      resetReused: _reused,
      resetFresh: _fresh,
      closedWithin: _within,
      closedBefore: _before,
      ...others
    } = failures
    expect(others).toEqual({})
    // Of several requests that were sent at once, each fails: they are at most 4.
    const pipelined = (report.kinds.pipelining?.failed ?? 0) * 0.75
    expect(failed - pipelined + unannounced).toBeLessThanOrEqual(most)

    await server.scale(2)
    await settled(server)
    await expect.poll(() => sum(active()), { timeout: 30_000 }).toBe(0)
    const after = remains(server)
    await annotate(`${JSON.stringify(atFirst)} before, ${JSON.stringify(after)} after`)
    expect(after.strangers).toEqual(atFirst.strangers)
    // Some belong to the runner of tests, and come and go.
    expect(after.files).toBeLessThan(atFirst.files + 10)
    expect(after.handles).toBeLessThan(atFirst.handles + 10)
    expect(after.filesOfWorkers).toBeLessThan(atFirst.filesOfWorkers + 10)

    const { port } = server
    await server.close()
    expect(started.filter((one) => one !== undefined && identityOf(Number.parseInt(one, 10)) === one)).toEqual([])
    const other = createServer().listen(port, '127.0.0.1')
    await once(other, 'listening')
    other.close()
  },
)

function oneOf<T>(all: readonly T[]): T {
  return all[Math.floor(Math.random() * all.length)]!
}

function sum(workers: readonly Worker[]): number {
  return workers.reduce((all, { connections }) => all + connections, 0)
}

/** What this process and the workers have, while there is no load. */
function remains(server: ClusteredServer): {
  /** Processes of this one that are no workers, those included that have ended and that nobody has asked for. */
  strangers: number[]
  files: number
  handles: number
  filesOfWorkers: number
} {
  const workers = server.status().workers.map(({ pid }) => pid!)
  return {
    strangers: childrenOf(process.pid).filter((pid) => !workers.includes(pid)),
    files: descriptorsOf(process.pid),
    handles: process.getActiveResourcesInfo().length,
    filesOfWorkers: workers.reduce((all, pid) => all + descriptorsOf(pid), 0),
  }
}
