// Decides when a call is late enough to be hedged.

/** Number of recorded durations. */
const REMEMBERED = 128
/** The delay is updated after this many responses. Before the first update there is none. */
const EVERY = 32
/** Share of responses that are in time. */
const IN_TIME = 0.95
/** Twice the time of those: a single late response is hedged, a slowdown of all is not. */
const TIMES = 2
/** Minimum delay in ms. A second call does not help against a garbage collection or a busy moment. */
const LEAST = 5

/** Milliseconds after which a call is hedged: fixed, or from the durations of earlier responses. */
export class HedgeDelay {
  readonly #isFixed: boolean
  readonly #took = new Float64Array(REMEMBERED)
  #answers = 0
  #delay: number | undefined

  constructor(hedge: true | number) {
    this.#isFixed = hedge !== true
    this.#delay = hedge === true ? undefined : hedge
  }

  /** Undefined while there are too few responses. */
  get(): number | undefined {
    return this.#delay
  }

  /** Records the duration of a response, in ms. */
  learn(duration: number): void {
    if (this.#isFixed) return
    this.#took[this.#answers++ % REMEMBERED] = duration
    if (this.#answers % EVERY > 0) return
    const took = this.#took.subarray(0, this.#answers)
    const late = took.length - Math.floor(took.length * IN_TIME)
    // Timers have whole milliseconds.
    this.#delay = Math.max(LEAST, Math.ceil(TIMES * largest(took, late)))
  }
}

/**
 * The `rank`-th largest of positive numbers. Sorting all took 4 % of a busy gateway's CPU. See
 * docs/measurements.md#hedge-delay
 */
function largest(values: Float64Array, rank: number): number {
  // In ascending order.
  const found = new Float64Array(rank)
  for (const value of values) {
    if (value <= found[0]!) continue
    let place = 0
    for (; place + 1 < rank && found[place + 1]! < value; place++) found[place] = found[place + 1]!
    found[place] = value
  }
  return found[0]!
}
