/** A worker that lived for so long has done its work: what killed it was not the way that it starts. Milliseconds. */
const STABLE = 10_000
const FIRST_DELAY = 100
const LONGEST_DELAY = 30_000
/** So many deaths in a row, each soon after its start, are a loop. */
const LOOP = 10

/** When workers that die are started again: at once, and later and later when they die soon each time. */
export class RestartPolicy {
  #deaths = 0

  /** Deaths in a row of workers that did not live long. */
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
    if (lived >= STABLE) this.#deaths = 0
    const delay = this.#deaths === 0 ? 0 : Math.min(FIRST_DELAY * 2 ** (this.#deaths - 1), LONGEST_DELAY)
    this.#deaths++
    return delay * (0.75 + Math.random() / 2)
  }

  /** What is started now is new: what came before tells nothing of it. */
  reset(): void {
    this.#deaths = 0
  }
}
