/** Adds up the time of periods that do not overlap. */
export class Stopwatch {
  /** Milliseconds of ended periods. */
  #ended = 0
  /** performance.now() at the start of the running period. */
  #began: number | undefined

  /** Starts a period, and returns a function that ends it. */
  start(): () => void {
    const began = (this.#began = performance.now())
    return () => {
      this.#ended += performance.now() - began
      this.#began = undefined
    }
  }

  /** Milliseconds of all periods so far. */
  get time(): number {
    return this.#ended + (this.#began === undefined ? 0 : performance.now() - this.#began)
  }
}
