// A call of an endpoint: one response or one failure, from one or more attempts.

import type { Dispatcher } from 'undici'
import { type CallFailure, LATE } from '../failure-reasons.ts'
import type { Origin } from '../upstream/origin.ts'
import { Attempt, type AttemptOptions } from './attempt.ts'
import type { CallOutcome } from './outcome.ts'
import type { PlannedCall } from './planned-call.ts'
import { Retries } from './retries.ts'

/** The endpoint request that a call belongs to. */
export interface CallOwner {
  /** Called once, unless the call was aborted. */
  callEnded: (index: number, outcome: CallOutcome) => void
  /** Milliseconds until the deadline. */
  timeLeft: () => number
  /** Wakes its calls at that time of `performance.now()`. */
  wakeAt: (time: number) => void
}

/** A call of an endpoint that runs: one request, or one for each item of a list. */
export interface RunningCall {
  readonly attempts: number
  readonly isHedged: boolean
  /** The attempt that runs, or the one that ended last. */
  readonly latest: Attempt | undefined
  /** When it must be woken, as time of `performance.now()`. */
  readonly wakesAt: number
  /** Milliseconds since the start. */
  elapsed: () => number
  start: () => void
  /** Runs the work that is due. */
  wake: (now: number) => void
  /** Ends it without calling the owner. `isLate` if it timed out, which is the origin's fault. */
  abort: (isLate: boolean) => void
  /** Its outcome if it ends now, because the deadline is reached. */
  lateOutcome: () => CallOutcome
}

export class Call implements RunningCall {
  readonly #owner: CallOwner
  readonly #index: number
  readonly #plan: PlannedCall
  readonly #request: Dispatcher.DispatchOptions
  readonly #startedAt = performance.now()
  /** The attempt that runs, or the one that ended last. */
  #latest: Attempt | undefined
  /** The second attempt of two that run. */
  #hedge: Attempt | undefined
  #isHedged = false
  /** When a hedged request or a retry starts, as time of `performance.now()`. */
  #nextAttemptAt = Number.POSITIVE_INFINITY
  /** Created at the first failure. */
  #retries: Retries | undefined
  #attempts = 0
  #isOver = false

  constructor(owner: CallOwner, index: number, plan: PlannedCall, request: Dispatcher.DispatchOptions) {
    this.#owner = owner
    this.#index = index
    this.#plan = plan
    this.#request = request
  }

  get attempts(): number {
    return this.#attempts
  }

  get isHedged(): boolean {
    return this.#isHedged
  }

  /** The attempt that runs, or the one that ended last. */
  get latest(): Attempt | undefined {
    return this.#latest
  }

  /** Milliseconds since the start. */
  elapsed(): number {
    return performance.now() - this.#startedAt
  }

  // A dependent call belongs to an admitted request: rejecting it would waste the calls before it.
  start(skipAdmission: boolean = this.#plan.waitsFor > 0): void {
    const { upstream, hedge } = this.#plan
    upstream.retryBudget.earn()
    upstream.hedgeBudget.earn()
    const delay = hedge?.get()
    if (delay !== undefined) this.#nextAttemptAt = this.#startedAt + delay
    this.#dispatch({ skipAdmission })
  }

  /** When its timeout, hedged request or retry is due. */
  get wakesAt(): number {
    return Math.min(this.#expiresAt, this.#nextAttemptAt)
  }

  get #expiresAt(): number {
    const { timeout } = this.#plan
    return timeout === undefined ? Number.POSITIVE_INFINITY : this.#startedAt + timeout
  }

  /** Runs the work that is due. */
  wake(now: number): void {
    if (this.#isOver) return
    if (now >= this.#expiresAt) return this.#expire()
    if (now < this.#nextAttemptAt) return
    this.#nextAttemptAt = Number.POSITIVE_INFINITY
    const retry = this.#retries?.next
    if (retry) this.#dispatch(retry)
    // Timers run before sockets are read: in a busy process the response may have arrived. An immediate runs after.
    else setImmediate(hedgeNow, this)
  }

  #dispatch(options: AttemptOptions): void {
    this.#attempts++
    this.#latest = new Attempt(this, this.#plan)
    this.#latest.dispatch(this.#request, options)
  }

  /** Sends a second request. The first response counts. */
  hedge(): void {
    const first = this.#latest!
    // A request in the queue is late because of this gateway, and a second one would wait behind it.
    if (this.#isOver || first.isOver || !first.isSent || !this.#plan.upstream.hedgeBudget.spend()) return
    this.#attempts++
    this.#isHedged = true
    this.#hedge = new Attempt(this, this.#plan)
    this.#hedge.dispatch(this.#request, { avoid: first.origin })
  }

  attemptEnded(attempt: Attempt, outcome: CallOutcome): void {
    const hedge = this.#hedge
    const other = attempt === hedge ? this.#latest : hedge
    this.#hedge = undefined
    if ('failure' in outcome) {
      this.#latest = other ?? attempt
      if (!other) this.#retryOrFail(outcome, attempt.origin)
      return
    }
    this.#latest = attempt
    other?.abort(false)
    this.#plan.hedge?.record(this.elapsed())
    this.#end(outcome)
  }

  #expire(): void {
    this.abort(true)
    this.#owner.callEnded(this.#index, { failure: LATE })
  }

  lateOutcome(): CallOutcome {
    return { failure: LATE }
  }

  /** Ends it without calling the owner. `isLate` if it timed out, which is the origin's fault. */
  abort(isLate: boolean): void {
    this.#isOver = true
    this.#latest?.abort(isLate)
    this.#hedge?.abort(isLate)
  }

  #retryOrFail(outcome: { readonly failure: CallFailure }, origin: Origin | undefined): void {
    this.#retries ??= new Retries(this.#plan)
    const delay = this.#retries.delayAfter(outcome.failure, this.#attempts, this.#owner.timeLeft())
    if (delay === undefined) return this.#end(outcome)
    const retry = { avoid: origin, isFresh: outcome.failure.isStaleSocket ?? false }
    this.#retries.next = retry
    // Retries are not hedged.
    this.#nextAttemptAt = Number.POSITIVE_INFINITY
    if (delay === 0) return this.#dispatch(retry)
    this.#nextAttemptAt = performance.now() + delay
    this.#owner.wakeAt(this.#nextAttemptAt)
  }

  #end(outcome: CallOutcome): void {
    this.#isOver = true
    this.#owner.callEnded(this.#index, outcome)
  }
}

function hedgeNow(call: Call): void {
  call.hedge()
}
