// Stops calls to a failing origin: they would only wait, and keep it from recovering.

import { CircuitState, CountBreaker } from 'cockatiel'
import type { ResolvedCircuitBreaker } from '../options/resolved.ts'

/**
 * The circuit of one origin. Of cockatiel only `CountBreaker` is used, which decides when to open. cockatiel's policy
 * costs a promise per call. The policy also lets all calls wait while one tries a broken origin. Here they are rejected,
 * or sent to another origin, immediately. See docs/measurements.md#circuit-breaker
 */
export class CircuitBreaker {
  readonly #makeBreaker: () => CountBreaker
  readonly #resetTimeout: number
  #breaker: CountBreaker
  /** When the next call may probe; undefined while the circuit is closed. */
  #nextProbeAt: number | undefined

  constructor({ errorRate, window, resetTimeout }: ResolvedCircuitBreaker) {
    this.#makeBreaker = () => new CountBreaker({ threshold: errorRate, size: window })
    this.#resetTimeout = resetTimeout
    this.#breaker = this.#makeBreaker()
  }

  get isOpen(): boolean {
    return this.#nextProbeAt !== undefined
  }

  /** Whether a call may be made. */
  allows(): boolean {
    return this.#nextProbeAt === undefined || performance.now() >= this.#nextProbeAt
  }

  /**
   * Counts a call. Returns whether it is a probe of a broken origin: one call per `resetTimeout` is.
   */
  acquire(): boolean {
    if (this.#nextProbeAt === undefined) return false
    this.#nextProbeAt = performance.now() + this.#resetTimeout
    return true
  }

  succeeded(isProbe: boolean): void {
    if (this.#nextProbeAt === undefined) this.#breaker.success(CircuitState.Closed)
    else if (isProbe) {
      this.#nextProbeAt = undefined
      this.#breaker = this.#makeBreaker()
    }
  }

  failed(): void {
    // Ignore late failures of calls sent before the circuit opened.
    if (this.#nextProbeAt !== undefined) return
    if (this.#breaker.failure(CircuitState.Closed)) this.#nextProbeAt = performance.now() + this.#resetTimeout
  }
}
