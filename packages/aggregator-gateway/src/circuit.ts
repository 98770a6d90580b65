// Stops calling an origin that fails: those calls would wait, and it would have more to recover from.

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
 * The circuit of one origin. cockatiel's breaker decides from what happened when it opens; the rest is here, since a
 * policy of cockatiel takes a promise for each call (0.4 µs; opossum 1.1), and while one call tries a broken origin
 * it lets all others wait for it, where they can be refused or sent to another origin at once.
 */
export class Circuit {
  readonly #makeBreaker: () => CountBreaker
  readonly #openFor: number
  #breaker: CountBreaker
  /** When the next call may try; nothing while the circuit is closed. */
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

  /** A call is made; whether it is one that tries a broken origin. Each `openFor` there is one, answered or not. */
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
    // What began before it opened, and fails after, is no news.
    if (this.#nextTry !== undefined) return
    if (this.#breaker.failure(CircuitState.Closed)) this.#nextTry = performance.now() + this.#openFor
  }
}
