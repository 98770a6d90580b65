import { expect, it, onTestFinished } from 'vitest'
import { SharedStats } from '../../src/ipc/shared-stats.ts'
import { bindListener } from '../../src/platform/node-internals.ts'
import { WorkerHandle } from '../../src/primary/worker-handle.ts'

it.each([true, false])('detects a stopped worker, with shared statistics: %s', async (isByFile) => {
  const sharedStats = isByFile ? SharedStats.create() : undefined
  const { fd, port, host, close } = bindListener(0, '127.0.0.1')
  const worker = new WorkerHandle({
    ...{ id: 1, generation: 1, app: new URL('../fixtures/apps/hello.ts', import.meta.url).href, host, port, fd },
    ...{ path: undefined, buildSocket: undefined, hasMetrics: false },
    entry: new URL('../../src/worker/entry.ts', import.meta.url),
    cwd: process.cwd(),
    sharedStats,
    ...{
      readyPath: undefined,
      sticky: false,
      drainTimeout: 1000,
      startTimeout: 30_000,
      blockedLoopReport: undefined,
      execArgv: [],
      args: [],
      outputPrefix: undefined,
      env: { ...process.env },
    },
  })
  onTestFinished(async () => {
    worker.kill()
    await worker.ended
    sharedStats?.close()
    close()
  })
  await worker.listen()
  const polled = (): WorkerHandle => {
    worker.poll()
    return worker
  }
  await fetch(`http://${host}:${port}/`, { headers: { connection: 'close' } })
  await expect.poll(() => polled().stats.requests).toBe(1)
  expect(worker.stats.rss).toBeGreaterThan(2 ** 20)
  expect(worker.liveness.isSilent).toBe(false)
  expect(polled().isBlocked(300)).toBe(false)
  process.kill(worker.pid!, 'SIGSTOP')
  await expect.poll(() => polled().liveness.isSilent).toBe(true)
  await expect.poll(() => polled().isBlocked(300)).toBe(true)
  process.kill(worker.pid!, 'SIGCONT')
  await expect.poll(() => polled().liveness.isSilent).toBe(false)
  worker.liveness.giveUp()
  expect(polled().liveness.isSilent).toBe(true)
  expect(worker.isBlocked(300)).toBe(false)
})
