// Keeps what is sent beyond what clients asked for, retries and hedges, a small share of it. An upstream that fails or
// is slow for everybody gets a little more load by them, never a multiple of it.

/** How much may be saved up for a bad moment. */
const MOST = 10

/** A share of the calls made: each call earns it, each extra attempt costs 1. */
export class Budget {
  readonly #share: number
  #tokens: number

  constructor(share: number) {
    this.#share = share
    this.#tokens = share === 0 ? 0 : MOST
  }

  earn(): void {
    if (this.#tokens < MOST) this.#tokens += this.#share
  }

  /** Whether there is enough for one more attempt, which is paid then. */
  spend(): boolean {
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }
}
