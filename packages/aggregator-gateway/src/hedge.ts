// When a call is old enough that a second one is worth it.

/** How many answers are remembered. */
const REMEMBERED = 128
/** After so many answers the delay is found anew; before the first so many, there is none. */
const EVERY = 32
/** The share of answers that are not late. */
const IN_TIME = 0.95
/** Twice as late as those: answers that are late by chance are hedged, a delay of all of them is not. */
const TIMES = 2
/** Milliseconds: what a garbage collection or a busy moment takes is nothing that a second call would save. */
const LEAST = 5

/** Milliseconds after which a call is made a second time: fixed, or by how long the answers before took. */
export class HedgeDelay {
  readonly #isFixed: boolean
  readonly #took = new Float64Array(REMEMBERED)
  #answers = 0
  #delay: number | undefined

  constructor(hedge: true | number) {
    this.#isFixed = hedge !== true
    this.#delay = hedge === true ? undefined : hedge
  }

  /** Nothing as long as there are too few answers to learn from. */
  get(): number | undefined {
    return this.#delay
  }

  /** An answer took that many milliseconds. */
  learn(duration: number): void {
    if (this.#isFixed) return
    this.#took[this.#answers++ % REMEMBERED] = duration
    if (this.#answers % EVERY > 0) return
    const took = this.#took.subarray(0, this.#answers)
    const late = took.length - Math.floor(took.length * IN_TIME)
    // Whole milliseconds, as timers have them.
    this.#delay = Math.max(LEAST, Math.ceil(TIMES * largest(took, late)))
  }
}

/** The `rank`-th largest of positive numbers. To sort all of them was 4 % of a busy gateway's CPU. */
function largest(values: Float64Array, rank: number): number {
  // From the smallest to the largest.
  const found = new Float64Array(rank)
  for (const value of values) {
    if (value <= found[0]!) continue
    let place = 0
    for (; place + 1 < rank && found[place + 1]! < value; place++) found[place] = found[place + 1]!
    found[place] = value
  }
  return found[0]!
}
