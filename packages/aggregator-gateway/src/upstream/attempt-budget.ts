// Limits retries and hedged requests to a small share of the calls: a failing or slow upstream gets a little more load,
// never a multiple of it.

/** Maximum number of saved attempts. */
const MAX_TOKENS = 10

/** A share of the calls: each call earns it, each extra attempt costs 1. */
export class AttemptBudget {
  readonly #share: number
  #tokens: number

  constructor(share: number) {
    this.#share = share
    this.#tokens = share === 0 ? 0 : MAX_TOKENS
  }

  earn(): void {
    if (this.#tokens < MAX_TOKENS) this.#tokens += this.#share
  }

  /** Pays for an extra attempt. Returns false if the budget is spent. */
  spend(): boolean {
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }
}
