import type { WorkerHandle } from './worker-handle.ts'
import type { WorkerPool } from './worker-pool.ts'

/** Tells workers which of them accept connections, so that all choose the same worker for a client address. */
export function announceWorkers(pool: WorkerPool): void {
  let announced = ''
  const announce = (): void => {
    const ids = pool.active.map(({ id }) => id)
    const key = ids.join()
    if (key === announced) return
    announced = key
    for (const worker of pool.all) worker.announce(ids)
  }
  pool.on('start', (worker: WorkerHandle) => {
    // Before it accepts connections, it has to know whose they are.
    worker.loaded.then(() => worker.announce(pool.active.map(({ id }) => id))).catch(() => {})
    for (const event of ['active', 'retiring', 'exit'] as const) worker.once(event, announce)
  })
}
