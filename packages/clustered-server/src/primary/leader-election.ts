import type { WorkerHandle } from './worker-handle.ts'

/** Chooses the worker that runs the tasks of `runOnOneWorker()`. The next leader starts only after the last has resigned. */
export class LeaderElection {
  /** Workers that have tasks. */
  readonly #candidates = new Set<WorkerHandle>()
  #leader: WorkerHandle | undefined

  add(worker: WorkerHandle): void {
    worker.once('candidate', () => {
      this.#candidates.add(worker)
      this.#elect()
    })
    worker.once('active', () => this.#elect())
    worker.once('resigned', () => this.#remove(worker))
    worker.once('exit', () => this.#remove(worker))
  }

  #remove(worker: WorkerHandle): void {
    this.#candidates.delete(worker)
    if (this.#leader !== worker) return
    this.#leader = undefined
    this.#elect()
  }

  #elect(): void {
    if (this.#leader) return
    const active = [...this.#candidates].filter(({ state }) => state === 'active')
    // The newest generation stays for the longest.
    const [best] = active.toSorted((a, b) => b.generation - a.generation || a.id - b.id)
    this.#leader = best
    best?.lead()
  }
}
