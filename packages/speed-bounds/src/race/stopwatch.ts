/** Adds up the time of periods that do not overlap. */
export class Stopwatch {
  /** Milliseconds of ended periods. */
  #ended = 0
  /** performance.now() at the start of the running period. */
  #began: number | undefined

  /** Adds the time of this work, also if it fails. */
  async measure<T>(work: () => Promise<T>): Promise<T> {
    const began = (this.#began = performance.now())
    try {
      return await work()
    } finally {
      this.#ended += performance.now() - began
      this.#began = undefined
    }
  }

  /** Milliseconds of all periods so far. */
  get time(): number {
    return this.#ended + (this.#began === undefined ? 0 : performance.now() - this.#began)
  }
}
