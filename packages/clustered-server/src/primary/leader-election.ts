import type { WorkerProcess } from './worker-handle.ts'

/** Which worker does what only one may do: never two, as the next one is told only when the last one has let go. */
export class Leadership {
  /** Workers that have something to do. */
  readonly #candidates = new Set<WorkerProcess>()
  #leader: WorkerProcess | undefined

  add(worker: WorkerProcess): void {
    worker.once('candidate', () => {
      this.#candidates.add(worker)
      this.#appoint()
    })
    worker.once('active', () => this.#appoint())
    worker.once('resigned', () => this.#without(worker))
    worker.once('exit', () => this.#without(worker))
  }

  #without(worker: WorkerProcess): void {
    this.#candidates.delete(worker)
    if (this.#leader !== worker) return
    this.#leader = undefined
    this.#appoint()
  }

  #appoint(): void {
    if (this.#leader) return
    const active = [...this.#candidates].filter(({ state }) => state === 'active')
    // One of the newest: it stays for the longest.
    const [best] = active.toSorted((a, b) => b.generation - a.generation || a.id - b.id)
    this.#leader = best
    best?.lead()
  }
}
