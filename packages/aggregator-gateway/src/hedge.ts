// When a call is old enough that a second one is worth it.

/** How much one answer moves the estimate. */
const STEP = 0.05
/** The share of answers that come later than what is estimated. */
const LATER = 0.05
/** Twice as late as 95 % of the answers: answers that are late by chance are hedged, a common delay of all is not. */
const TIMES = 2

/** Milliseconds after which a call is made a second time: fixed, or by how long the answers before took. */
export class HedgeDelay {
  readonly #fixed: number | undefined
  #estimate: number | undefined

  constructor(hedge: true | number) {
    this.#fixed = hedge === true ? undefined : hedge
  }

  /** Nothing as long as there was no answer to learn from. */
  get(): number | undefined {
    if (this.#fixed !== undefined) return this.#fixed
    return this.#estimate === undefined ? undefined : Math.max(1, TIMES * this.#estimate)
  }

  /**
   * An answer took that many milliseconds. The estimate of the 95th percentile goes up by 0.95 steps for a later
   * answer, and down by 0.05 steps for an earlier one: it rests where one of 20 is later.
   */
  learn(took: number): void {
    if (this.#fixed !== undefined) return
    if (this.#estimate === undefined) this.#estimate = took
    else this.#estimate *= took > this.#estimate ? 1 + STEP * (1 - LATER) : 1 - STEP * LATER
  }
}
