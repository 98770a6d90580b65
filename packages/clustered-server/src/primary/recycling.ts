import type { RecycleOptions, RecycleReason } from '../options/types.ts'
import type { WorkerStats } from '../server-types.ts'

/** The part of a worker that limits apply to. */
interface Recyclable {
  readonly stats: WorkerStats
  /** When the worker became active, by `performance.now()`. */
  readonly activeAt: number
}

/** Limits of each worker are lower by up to this share, so that not all are due at once. */
const JITTER = 0.1
/** Minimum milliseconds between two replacements: even a new worker may exceed a low limit. */
const MIN_INTERVAL = 1000
/** The same after a new worker did not start. */
const INTERVAL_AFTER_FAILURE = 10_000

/** Chooses the worker to replace next, and the limit that it has reached. */
export class Recycling {
  readonly #limits: RecycleOptions
  readonly #shares = new WeakMap<Recyclable, number>()
  #isBusy = false
  #notBefore = 0

  constructor(limits: RecycleOptions) {
    this.#limits = limits
  }

  /** Returns a worker that has reached a limit, unless another is being replaced or was a moment ago. */
  next<Worker extends Recyclable>(
    workers: readonly Worker[],
  ): { readonly worker: Worker; readonly reason: RecycleReason } | undefined {
    if (this.#isBusy || performance.now() < this.#notBefore) return undefined
    for (const worker of workers) {
      const reason = this.#reason(worker)
      if (reason) return { worker, reason }
    }
    return undefined
  }

  /** Pauses until a replacement has ended, and for the interval after it. */
  async during(replacement: Promise<void>): Promise<void> {
    this.#isBusy = true
    let interval = MIN_INTERVAL
    try {
      await replacement
    } catch {
      // The event `workerExit` reports the worker that did not start.
      interval = INTERVAL_AFTER_FAILURE
    }
    this.#isBusy = false
    this.#notBefore = performance.now() + interval
  }

  #reason(worker: Recyclable): RecycleReason | undefined {
    const { stats, activeAt } = worker
    const { requests = Infinity, rss = Infinity, heap = Infinity, age = Infinity } = this.#limits
    const share = this.#shares.get(worker) ?? 1 - Math.random() * JITTER
    this.#shares.set(worker, share)
    if (stats.requests >= requests * share) return 'requests'
    if (stats.rss >= rss * share) return 'rss'
    if (stats.heapUsed >= heap * share) return 'heap'
    return performance.now() - activeAt >= age * share ? 'age' : undefined
  }
}
