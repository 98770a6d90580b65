/** Lifetime in milliseconds after which a death is not a failed start. */
const STABLE_MS = 10_000
const MIN_DELAY = 100
const MAX_DELAY = 30_000
/** Number of early deaths in a row that make a crash loop. */
const MAX_DEATHS = 10

/** When dead workers are restarted: immediately, then with exponential backoff while they keep dying early. */
export class RestartPolicy {
  #deaths = 0
  /** Time of the last counted death, by `performance.now()`. */
  #lastAt = 0

  /** Early deaths in a row. Workers that lived at the same time count once. */
  get deaths(): number {
    return this.#deaths
  }

  /** Whether restarts are pointless. */
  get isLoop(): boolean {
    return this.#deaths >= MAX_DEATHS
  }

  /**
   * Returns the delay before a worker that lived for `lifetime` milliseconds is restarted: 0 for the first death, then
   * doubled each time. A jitter of a quarter keeps many hosts from restarting at the same time.
   */
  delayAfter(lifetime: number): number {
    const now = performance.now()
    // Only a reload ends a crash loop.
    if (lifetime >= STABLE_MS && !this.isLoop) this.#deaths = 0
    // One cause may have killed several workers.
    if (this.#deaths === 0 || now - lifetime >= this.#lastAt) {
      this.#deaths++
      this.#lastAt = now
    }
    const delay = this.#deaths === 1 ? 0 : Math.min(MIN_DELAY * 2 ** (this.#deaths - 2), MAX_DELAY)
    return delay * (0.75 + Math.random() / 2)
  }

  /** Forgets all deaths: the next workers run new code. */
  reset(): void {
    this.#deaths = 0
  }
}
