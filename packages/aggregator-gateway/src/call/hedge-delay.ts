// Decides when a call is late enough to be hedged.

/** Number of recorded durations. */
const WINDOW = 128
/** The delay is updated after this many responses. Before the first update there is none. */
const UPDATE_INTERVAL = 32
/** The percentile that the delay is based on. */
const PERCENTILE = 0.95
/** The delay is twice the percentile: a single late response is hedged, a slowdown of all is not. */
const FACTOR = 2
/** Minimum delay in ms. A second call does not help against a garbage collection or a busy moment. */
const MIN_DELAY = 5

/** Milliseconds after which a call is hedged: fixed, or from the durations of earlier responses. */
export class HedgeDelay {
  readonly #isFixed: boolean
  readonly #durations = new Float64Array(WINDOW)
  #count = 0
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
  record(duration: number): void {
    if (this.#isFixed) return
    this.#durations[this.#count++ % WINDOW] = duration
    if (this.#count % UPDATE_INTERVAL > 0) return
    const durations = this.#durations.subarray(0, this.#count)
    const late = durations.length - Math.floor(durations.length * PERCENTILE)
    // Timers have whole milliseconds.
    this.#delay = Math.max(MIN_DELAY, Math.ceil(FACTOR * largest(durations, late)))
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
