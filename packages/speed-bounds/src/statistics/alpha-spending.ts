// How the looks of a claim share its alpha: Lan and DeMets 1983. The shares add up to alpha at most, so by Bonferroni's
// inequality a verdict is wrong with a probability of at most alpha, however many looks there are.

/** Share of alpha of the first look, at which only a large difference is decided. */
const FIRST_LOOK_SHARE = 0.08

/** Alpha is spent late, as the square of the time: most of it is left for the last look, which has the most data. */
const POWER = 2

export class AlphaSpending {
  readonly #alpha: number
  #first = 0
  #spent = 0

  constructor(alpha: number) {
    this.#alpha = alpha
  }

  /** The alpha of the first look. */
  ofFirstLook(): number {
    const share = FIRST_LOOK_SHARE * this.#alpha
    this.#first += share
    this.#spent += share
    return share
  }

  /**
   * The alpha of a look after this share of the race.
   *
   * @param share - from 0 to 1, where 1 is the last look
   */
  ofLookAt(share: number): number {
    const until = this.#first + (this.#alpha - this.#first) * Math.min(1, share) ** POWER
    const alpha = Math.max(0, until - this.#spent)
    this.#spent += alpha
    return alpha
  }
}
