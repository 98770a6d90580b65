import { expect, it, onTestFinished } from 'vitest'
import { FiguresFile } from '../../src/ipc/shared-stats.ts'
import { bindListener } from '../../src/platform/node-internals.ts'
import { WorkerProcess } from '../../src/primary/worker-handle.ts'

it.each([true, false])('a worker is known to live, by a file: %s', async (isByFile) => {
  const file = isByFile ? FiguresFile.create() : undefined
  const { fd, port, host, close } = bindListener(0, '127.0.0.1')
  const worker = new WorkerProcess({
    ...{ id: 1, generation: 1, app: new URL('../fixtures/apps/hello.ts', import.meta.url).href, host, port, fd, file },
    path: undefined,
    ...{
      readyPath: undefined,
      drainTimeout: 1000,
      startTimeout: 30_000,
      stuckReport: undefined,
      execArgv: [],
      env: { ...process.env },
    },
  })
  onTestFinished(async () => {
    worker.kill()
    await worker.ended
    file?.close()
    close()
  })
  await worker.listen()
  const looked = (): WorkerProcess => {
    worker.look()
    return worker
  }
  await fetch(`http://${host}:${port}/`, { headers: { connection: 'close' } })
  await expect.poll(() => looked().figures.requests).toBe(1)
  expect(worker.figures.rss).toBeGreaterThan(2 ** 20)
  expect(worker.isSilent).toBe(false)
  expect(looked().isStuck(300)).toBe(false)
  process.kill(worker.pid!, 'SIGSTOP')
  await expect.poll(() => looked().isSilent).toBe(true)
  await expect.poll(() => looked().isStuck(300)).toBe(true)
  process.kill(worker.pid!, 'SIGCONT')
  await expect.poll(() => looked().isSilent).toBe(false)
  worker.giveUp()
  expect(looked().isSilent).toBe(true)
  expect(worker.isStuck(300)).toBe(false)
})
