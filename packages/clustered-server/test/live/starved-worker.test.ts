// What may be silent for long, and what may not.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { type ClusteredServer, createClusteredServer } from '../../src/index.ts'
import { coreTime } from '../../src/platform/proc-stat.ts'

const hello = new URL('../fixtures/apps/hello.ts', import.meta.url)
const options = {
  workers: 2,
  port: 0,
  host: '127.0.0.1',
  signals: false,
  standby: false,
  heartbeatTimeout: 400,
} as const

/** What is run before all others takes a core away from them, which only some may do. */
const canTakeCore = spawnSync('chrt', ['--fifo', '1', 'taskset', '--cpu-list', '0', 'true']).status === 0

async function start(): Promise<{ server: ClusteredServer; pid: number }> {
  const server = await createClusteredServer(hello, options)
  onTestFinished(() => server.close())
  return { server, pid: server.status().workers[0]!.pid! }
}

it('kills a stopped worker as blocked', async () => {
  const { server, pid } = await start()
  const stuck = once(server, 'workerBlocked')
  process.kill(pid, 'SIGSTOP')
  await expect(stuck).resolves.toEqual([expect.objectContaining({ pid })])
})

it.runIf(canTakeCore)('does not kill a worker that waits for a core', { timeout: 30_000 }, async ({ annotate }) => {
  const { server, pid } = await start()
  const stuck: number[] = []
  server.on('workerBlocked', (worker) => stuck.push(worker.pid!))
  spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', '0', String(pid)])
  const before = coreTime(pid)!.ran
  // All of the first core that the system lets one have.
  const hog = spawn('chrt', ['--fifo', '1', 'taskset', '--cpu-list', '0', 'sh', '-c', 'while :; do :; done'])
  await wait(3000)
  hog.kill('SIGKILL')
  const ran = (coreTime(pid)?.ran ?? NaN) - before
  await annotate(`it ran for ${Math.round(ran)} of 3000 ms`)
  expect(stuck).toEqual([])
  expect(server.status().workers.map((worker) => worker.pid)).toContain(pid)
})
