// Decides whether a failed call gets another attempt, and when.

import type { CallFailure } from '../failure-reasons.ts'
import type { AttemptOptions } from './attempt.ts'
import type { PlannedCall } from './planned-call.ts'

/** Statuses that another attempt may change; undici retries the same. */
const RETRIED_STATUSES = [429, 500, 502, 503, 504]
/** Base delay in ms, doubled with each retry. A random part of it is waited. */
const RETRY_DELAY = 50

/** The retries of one call. */
export class Retries {
  readonly #plan: PlannedCall
  #left: number
  /** Was resent once without using up a retry, because a keep-alive connection was closed. */
  #isResent = false
  /** Options of the next attempt. */
  next: AttemptOptions | undefined

  constructor(plan: PlannedCall) {
    this.#plan = plan
    this.#left = plan.retries
  }

  /** Returns the delay of the next attempt in ms, or undefined if there is none. */
  delayAfter(
    { reason, status = 0, retryAfter, isUnsent, isStaleSocket }: CallFailure,
    attempts: number,
    timeLeft: number,
  ): number | undefined {
    const { upstream, isIdempotent, retries } = this.#plan
    // The upstream has not seen it, so another origin can serve any method.
    if (isUnsent && attempts < upstream.size) return 0
    if (!isIdempotent) return undefined
    if (isStaleSocket && !this.#isResent) {
      this.#isResent = true
      return 0
    }
    const isRetried =
      reason === 'connection' || reason === 'timeout' || (reason === 'status' && RETRIED_STATUSES.includes(status))
    if (!isRetried || this.#left === 0) return undefined
    const delay =
      retryAfter === undefined ? Math.random() * RETRY_DELAY * 2 ** (retries - this.#left) : millisecondsOf(retryAfter)
    if (delay >= timeLeft || !upstream.retryBudget.spend()) return undefined
    this.#left--
    return delay
  }
}

/** The delay of a `retry-after` header, which holds seconds or a date. */
function millisecondsOf(retryAfter: string): number {
  const delay = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now()
  // An invalid date means no retry.
  return Number.isNaN(delay) ? Number.POSITIVE_INFINITY : Math.max(0, delay)
}
