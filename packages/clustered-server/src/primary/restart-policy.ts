/** A worker that lived for so long has done its work: what killed it was not the way that it starts. Milliseconds. */
const STABLE = 10_000
const FIRST_DELAY = 100
const LONGEST_DELAY = 30_000
/** So many deaths in a row, each soon after its start and of a worker started after the one before, are a loop. */
const LOOP = 10

/** When workers that die are started again: at once, and later and later when they die soon each time. */
export class RestartPolicy {
  #deaths = 0
  /** When the last of them was, by `performance.now()`. */
  #lastAt = 0

  /** Deaths in a row of workers that did not live long. Of those that lived at the same time, one counts. */
  get deaths(): number {
    return this.#deaths
  }

  /** Whether starting again will not help. */
  get isLoop(): boolean {
    return this.#deaths >= LOOP
  }

  /**
   * Milliseconds until a worker that lived for so many milliseconds is started again: 0 for the first, then twice as
   * long each time, by up to a quarter more or less, so that many hosts do not do it at the same time.
   */
  delayAfter(lived: number): number {
    const now = performance.now()
    // Out of a loop there is no way but something new.
    if (lived >= STABLE && !this.isLoop) this.#deaths = 0
    // What killed one may have killed many, and they tell no more than that one does.
    if (this.#deaths === 0 || now - lived >= this.#lastAt) {
      this.#deaths++
      this.#lastAt = now
    }
    const delay = this.#deaths === 1 ? 0 : Math.min(FIRST_DELAY * 2 ** (this.#deaths - 2), LONGEST_DELAY)
    return delay * (0.75 + Math.random() / 2)
  }

  /** What is started now is new: what came before tells nothing of it. */
  reset(): void {
    this.#deaths = 0
  }
}
