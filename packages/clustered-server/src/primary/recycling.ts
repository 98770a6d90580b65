import type { WorkerFigures } from '../ipc/messages.ts'

/** When a worker is replaced by a new one. */
export interface RecycleOptions {
  /** Requests that a worker gets before it is replaced. @default any number */
  requests?: number
  /** Bytes of resident memory with which a worker is replaced. @default any number */
  rss?: number
  /** Bytes of V8's heap in use with which a worker is replaced. @default any number */
  heap?: number
  /** Milliseconds that a worker takes connections before it is replaced. @default any number */
  age?: number
}

/** Which limit a worker has reached. */
export type RecycleReason = keyof RecycleOptions

/** What is looked at of a worker. */
interface Recyclable {
  readonly figures: WorkerFigures
  /** When it began to take connections, by `performance.now()`. */
  readonly activeAt: number
}

/** Each worker has its own limits, less than what is asked for by up to this share: so they are not due all at once. */
const JITTER = 0.1
/** The least milliseconds between two: below a limit that even a new worker reaches, all would be replaced all the time. */
const PAUSE = 1000
/** Milliseconds until it is tried again, when no new worker has started. */
const PAUSE_AFTER_FAILURE = 10_000

/** Which worker is replaced next, and why. */
export class Recycling {
  readonly #limits: RecycleOptions
  readonly #shares = new WeakMap<Recyclable, number>()
  #isBusy = false
  #notBefore = 0

  constructor(limits: RecycleOptions) {
    this.#limits = limits
  }

  /** One that has reached a limit, unless another is being replaced or was just now. */
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

  /** Waits for the end of a replacement. */
  async during(replacement: Promise<void>): Promise<void> {
    this.#isBusy = true
    let pause = PAUSE
    try {
      await replacement
    } catch {
      // The end of what did not start is told by an event.
      pause = PAUSE_AFTER_FAILURE
    }
    this.#isBusy = false
    this.#notBefore = performance.now() + pause
  }

  #reason(worker: Recyclable): RecycleReason | undefined {
    const { figures, activeAt } = worker
    const { requests = Infinity, rss = Infinity, heap = Infinity, age = Infinity } = this.#limits
    const share = this.#shares.get(worker) ?? 1 - Math.random() * JITTER
    this.#shares.set(worker, share)
    if (figures.requests >= requests * share) return 'requests'
    if (figures.rss >= rss * share) return 'rss'
    if (figures.heapUsed >= heap * share) return 'heap'
    return performance.now() - activeAt >= age * share ? 'age' : undefined
  }
}
