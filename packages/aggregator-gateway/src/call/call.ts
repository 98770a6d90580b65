// A call as the endpoint sees it: one answer or one failure, out of one attempt or several.

import type { Dispatcher } from 'undici'
import { Attempt, type AttemptHow } from './attempt.ts'
import type { HeaderPlan } from '../request/request-headers.ts'
import type { HedgeDelay } from './hedging.ts'
import type { JsonBodyReader } from './json-body.ts'
import { type CallFailure, type CallOutcome, LATE } from './outcome.ts'
import type { Shadow } from './shadow.ts'
import type { Template } from '../request/path-template.ts'
import type { Origin, Upstream } from '../upstream/upstream.ts'

/** A call of an endpoint, ready to be made. */
export interface PlannedCall {
  readonly name: string
  readonly upstream: Upstream
  readonly method: string
  /** It may be made twice (RFC 9110, 9.2.2). */
  readonly isIdempotent: boolean
  readonly path: Template
  readonly headers: HeaderPlan
  /** Names of the client's query parameters that are forwarded. */
  readonly forwardQuery: readonly string[]
  /** The client's body goes along. */
  readonly forwardsBody: boolean
  readonly isOptional: boolean
  /** Milliseconds; nothing where the endpoint's deadline is enough. */
  readonly timeout: number | undefined
  readonly retries: number
  readonly hedge: HedgeDelay | undefined
  /** Where a copy of it goes. */
  readonly shadow: Shadow | undefined
  /** Statuses that become the answer's. */
  readonly propagated: readonly number[]
  /** Reads its answers. */
  readonly reader: JsonBodyReader
  /** Indices of the calls that wait for it, and how many it waits for. */
  readonly dependents: readonly number[]
  readonly waitsFor: number
}

/** Who waits for a call. */
export interface CallOwner {
  /** Told once, unless it was given up. */
  callEnded: (index: number, outcome: CallOutcome) => void
  /** Milliseconds until nobody waits any more. */
  timeLeft: () => number
  /** Wakes its calls at that time of `performance.now()`. */
  wakeAt: (time: number) => void
}

/** Answers that another attempt may well change; undici's own list too. */
const RETRIED_STATUSES = [429, 500, 502, 503, 504]
/** Milliseconds, times 2 for each retry before; a random part of it is waited. */
const RETRY_DELAY = 50
export class Call {
  readonly #owner: CallOwner
  readonly #index: number
  readonly #plan: PlannedCall
  readonly #request: Dispatcher.DispatchOptions
  readonly #startedAt = performance.now()
  #running: Attempt | undefined
  #hedge: Attempt | undefined
  #last: Attempt | undefined
  #isHedged = false
  /** Times of `performance.now()`: when its own time is over, and when a hedge starts, or a retry. */
  #expiresAt = Number.POSITIVE_INFINITY
  #nextAttemptAt = Number.POSITIVE_INFINITY
  /** How the next attempt is made, when it is a retry. */
  #retry: AttemptHow | undefined
  #attempts = 0
  #retriesLeft: number
  /** It was sent once more for nothing, after a kept-alive connection was closed. */
  #isResent = false
  #isOver = false

  constructor(owner: CallOwner, index: number, plan: PlannedCall, request: Dispatcher.DispatchOptions) {
    this.#owner = owner
    this.#index = index
    this.#plan = plan
    this.#request = request
    this.#retriesLeft = plan.retries
  }

  /** How many attempts there were. */
  get attempts(): number {
    return this.#attempts
  }

  get isHedged(): boolean {
    return this.#isHedged
  }

  /** The attempt that runs, or else the one that has ended last. */
  get latest(): Attempt | undefined {
    return this.#running ?? this.#last
  }

  /** Milliseconds since it was made. */
  elapsed(): number {
    return performance.now() - this.#startedAt
  }

  start(): void {
    const { upstream, timeout, hedge } = this.#plan
    upstream.retryBudget.earn()
    upstream.hedgeBudget.earn()
    if (timeout !== undefined) this.#expiresAt = this.#startedAt + timeout
    const delay = hedge?.get()
    if (delay !== undefined) this.#nextAttemptAt = this.#startedAt + delay
    // When it waited for others, the request was accepted before: refused now, the work of the others would be lost.
    this.#dispatch({ isAccepted: this.#plan.waitsFor > 0 })
  }

  /** When there is something to do for it. */
  get wakesAt(): number {
    return Math.min(this.#expiresAt, this.#nextAttemptAt)
  }

  /** Does what is due. */
  wake(now: number): void {
    if (this.#isOver) return
    if (now >= this.#expiresAt) return this.#expire()
    if (now < this.#nextAttemptAt) return
    this.#nextAttemptAt = Number.POSITIVE_INFINITY
    if (this.#retry) this.#dispatch(this.#retry)
    // Timers come before what sockets have received: in a busy process the answer may be there. An immediate comes after.
    else setImmediate(hedgeNow, this)
  }

  #dispatch(how: AttemptHow): void {
    this.#attempts++
    this.#running = new Attempt(this, this.#plan.reader)
    this.#running.dispatch(this.#plan.upstream, this.#request, how)
  }

  /** Makes it a second time while the first waits: whichever answers first counts. */
  hedge(): void {
    const { upstream, reader } = this.#plan
    // What still waits for a connection is late because of this gateway: a second call would wait behind it.
    if (this.#isOver || !this.#running?.isSent || !upstream.hedgeBudget.spend()) return
    this.#attempts++
    this.#isHedged = true
    this.#hedge = new Attempt(this, reader)
    this.#hedge.dispatch(upstream, this.#request, { avoid: this.#running.origin })
  }

  attemptEnded(attempt: Attempt, outcome: CallOutcome): void {
    const other = attempt === this.#hedge ? this.#running : this.#hedge
    this.#running = undefined
    this.#hedge = undefined
    this.#last = attempt
    if ('failure' in outcome) {
      if (other) this.#running = other
      else this.#retryOrFail(outcome, attempt.origin)
      return
    }
    other?.abort(false)
    this.#plan.hedge?.learn(this.elapsed())
    this.#end(outcome)
  }

  /** Its time is over. */
  #expire(): void {
    this.giveUp(true)
    this.#owner.callEnded(this.#index, { failure: LATE })
  }

  /** Nothing is told of it any more; `isLate` when that is the upstream's fault. */
  giveUp(isLate: boolean): void {
    this.#isOver = true
    this.#running?.abort(isLate)
    this.#hedge?.abort(isLate)
  }

  #retryOrFail(outcome: { readonly failure: CallFailure }, origin: Origin | undefined): void {
    const delay = this.#retryDelay(outcome.failure)
    if (delay === undefined) return this.#end(outcome)
    this.#retry = { avoid: origin, isFresh: outcome.failure.isOutdated ?? false }
    // Nothing is hedged that has failed.
    this.#nextAttemptAt = Number.POSITIVE_INFINITY
    if (delay === 0) return this.#dispatch(this.#retry)
    this.#nextAttemptAt = performance.now() + delay
    this.#owner.wakeAt(this.#nextAttemptAt)
  }

  /** Milliseconds until another attempt; nothing when there is none. */
  #retryDelay({ reason, status = 0, retryAfter, isUnseen, isOutdated }: CallFailure): number | undefined {
    const { upstream, isIdempotent } = this.#plan
    // The upstream has not seen it: another origin may answer any call.
    if (isUnseen && this.#attempts < upstream.size) return 0
    if (!isIdempotent) return undefined
    if (isOutdated && !this.#isResent) {
      this.#isResent = true
      return 0
    }
    const isRetried =
      reason === 'connection' || reason === 'timeout' || (reason === 'status' && RETRIED_STATUSES.includes(status))
    if (!isRetried || this.#retriesLeft === 0) return undefined
    const wait =
      retryAfter === undefined
        ? Math.random() * RETRY_DELAY * 2 ** (this.#plan.retries - this.#retriesLeft)
        : millisecondsOf(retryAfter)
    if (wait >= this.#owner.timeLeft() || !upstream.retryBudget.spend()) return undefined
    this.#retriesLeft--
    return wait
  }

  #end(outcome: CallOutcome): void {
    this.#isOver = true
    this.#owner.callEnded(this.#index, outcome)
  }
}

function hedgeNow(call: Call): void {
  call.hedge()
}

/** Of `retry-after`, which is seconds or a date. */
function millisecondsOf(retryAfter: string): number {
  const wait = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now()
  // A date that nobody can read is never.
  return Number.isNaN(wait) ? Number.POSITIVE_INFINITY : Math.max(0, wait)
}
