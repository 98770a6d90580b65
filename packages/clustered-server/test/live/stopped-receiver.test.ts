import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { connectTo, isAnswer, RawConnection, type Result } from '../helpers/fault-load.ts'
import { isAlive, settled, startProcess, startServer } from '../helpers/running-server.ts'

/** Longer than a round of rebalancing. */
const ROUND_MS = 1000

async function ask(connection: RawConnection, what: string): Promise<Result> {
  const [result] = await connection.ask(`GET /${what} HTTP/1.1\r\nhost: test\r\n\r\n`)
  return result!
}

/** The worker of each connection, once rebalancing has ended. */
async function placed(connections: readonly RawConnection[]): Promise<readonly (number | undefined)[]> {
  const pids = await Promise.all(
    connections.map(async (connection) => {
      const result = await ask(connection, 'pid')
      return isAnswer(result) ? Number(result.body) : undefined
    }),
  )
  await wait(ROUND_MS)
  const later = await Promise.all(connections.map((connection) => ask(connection, 'pid')))
  const isSettled = later.every((result, index) => isAnswer(result) && Number(result.body) === pids[index])
  return isSettled ? pids : placed(connections)
}

it('reassigns connections that are on their way to a dying worker', { timeout: 60_000 }, async () => {
  const server = await startServer('patient.ts', { workers: 3, heartbeatTimeout: 2000 })
  await settled(server, 3)
  const all = Array.from({ length: 60 }, () => new RawConnection(connectTo(server.port)(), 20_000))
  // A connection that is moved to the first worker before that stops would be lost with it.
  const pids = await placed(all)
  const [first] = server.status().workers
  const elsewhere = all.filter((_, index) => pids[index] !== undefined && pids[index] !== first!.pid)
  const stuck = once(server, 'workerBlocked')
  process.kill(first!.pid!, 'SIGSTOP')
  // The newest goes, and gives its connections to the others: that one of them has stopped is not known yet.
  await server.scale(2)
  await stuck
  await settled(server)
  const results = await Promise.all(elsewhere.map((connection) => ask(connection, 'answer/1')))
  for (const connection of all) connection.close()
  const lost = results.filter((result) => !isAnswer(result))
  expect(lost).not.toContain('timeout')
  // One may have been sent, and not be taken.
  expect(lost.slice(1)).toEqual([])
  expect(elsewhere.length).toBeGreaterThan(0)
})

it('a worker with connections in handover ends when the primary dies', { timeout: 60_000 }, async () => {
  const { process: primary, port, workers } = await startProcess([process.execPath], { APP: 'patient.ts' })
  const all = Array.from({ length: 60 }, () => new RawConnection(connectTo(port)(), 20_000))
  await Promise.all(all.map((connection) => ask(connection, 'answer/1')))
  const newest = workers[1]!
  process.kill(newest, 'SIGSTOP')
  // It is told to go, and to give its connections away.
  primary.kill('SIGTTOU')
  await wait(500)
  primary.kill('SIGSTOP')
  process.kill(newest, 'SIGCONT')
  // What it sends now is taken by nobody.
  await wait(500)
  primary.kill('SIGKILL')
  // Its connections would have 20 s to end.
  await expect.poll(() => workers.filter(isAlive), { timeout: 10_000 }).toEqual([])
  for (const connection of all) connection.close()
})
