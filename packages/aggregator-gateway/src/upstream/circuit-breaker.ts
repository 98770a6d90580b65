// Stops calls to an origin that fails: they would wait, and keep it from recovering.

import { CircuitState, CountBreaker } from 'cockatiel'

/** When the calls to an origin are stopped. */
export interface BreakerOptions {
  /** The share of failed calls above which an origin is not called any more. @default 0.5 */
  threshold?: number
  /** Of how many calls, the last ones. @default 20 */
  calls?: number
  /** Milliseconds until one call tries the origin again. @default 1000 */
  openFor?: number
}

/**
 * The circuit of one origin. cockatiel's breaker only decides when it opens, because cockatiel's policy costs a promise
 * per call. The policy also lets all calls wait while one tries a broken origin. Here they are rejected, or sent to
 * another origin, immediately. See docs/measurements.md#circuit-breaker
 */
export class Circuit {
  readonly #makeBreaker: () => CountBreaker
  readonly #openFor: number
  #breaker: CountBreaker
  /** When the next call may try; undefined while the circuit is closed. */
  #nextTry: number | undefined

  constructor({ threshold = 0.5, calls = 20, openFor = 1000 }: BreakerOptions) {
    this.#makeBreaker = () => new CountBreaker({ threshold, size: calls })
    this.#openFor = openFor
    this.#breaker = this.#makeBreaker()
  }

  get isOpen(): boolean {
    return this.#nextTry !== undefined
  }

  /** Whether a call may be made. */
  allows(): boolean {
    return this.#nextTry === undefined || performance.now() >= this.#nextTry
  }

  /**
   * Counts a call. Returns whether it tries a broken origin: one call per `openFor` does, with or without a response.
   */
  begin(): boolean {
    if (this.#nextTry === undefined) return false
    this.#nextTry = performance.now() + this.#openFor
    return true
  }

  succeeded(isTry: boolean): void {
    if (this.#nextTry === undefined) this.#breaker.success(CircuitState.Closed)
    else if (isTry) {
      this.#nextTry = undefined
      this.#breaker = this.#makeBreaker()
    }
  }

  failed(): void {
    // Ignore late failures of calls sent before the circuit opened.
    if (this.#nextTry !== undefined) return
    if (this.#breaker.failure(CircuitState.Closed)) this.#nextTry = performance.now() + this.#openFor
  }
}
