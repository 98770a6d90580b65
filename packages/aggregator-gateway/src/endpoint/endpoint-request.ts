// Serves a request of an endpoint: starts each call as soon as its inputs are ready, waits for all calls or the deadline,
// and composes the response. Coalesced requests share one.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { Call, type CallOwner, type RunningCall } from '../call/call.ts'
import { FanOut } from '../call/fan-out.ts'
import { type CallOutcome, SKIPPED } from '../call/outcome.ts'
import { BadParameterError } from '../errors.ts'
import { type Aborted, type CallFailure, CLIENT_LEFT, LATE, NOT_NEEDED, REJECTIONS } from '../failure-reasons.ts'
import { forwardedBody } from '../request/forwarded-body.ts'
import { MissingValueError, type Values } from '../request/placeholders.ts'
import type { PendingReply } from '../runtime/pending-reply.ts'
import { scheduleAfterPoll } from '../runtime/end-of-tick.ts'
import { CallReports, logFailure } from './call-reports.ts'
import type { PlannedCall } from '../call/planned-call.ts'
import type { PlannedEndpoint } from './planned-endpoint.ts'
import { type RenderedCalls, renderCalls, renderTarget, type Target } from './render-calls.ts'
import { Replies } from './waiting-clients.ts'
import { RequestTimer } from './request-timer.ts'
import { errorOf, respond } from './response.ts'

export class EndpointRequest implements CallOwner, Values {
  readonly #endpoint: PlannedEndpoint
  readonly #request: FastifyRequest
  readonly #replies = new Replies()
  readonly #timer: RequestTimer
  readonly #reports: CallReports | undefined
  readonly #ended: (() => void) | undefined
  /** Targets and headers of its calls, once they are known. */
  #rendered: RenderedCalls | undefined
  readonly #active: (RunningCall | undefined)[]
  readonly #outcomes: CallOutcome[]
  /** The number of calls that each call waits for, if there are dependent calls. */
  readonly #waiting: number[] | undefined
  #left: number
  #isOver = false

  /** `rendered` is given if the coalescing key was made of it. `ended` is called when no client can join any more. */
  constructor(endpoint: PlannedEndpoint, request: FastifyRequest, rendered?: RenderedCalls, ended?: () => void) {
    const { calls, timeout, hasServerTiming, instrumentation } = endpoint
    this.#endpoint = endpoint
    this.#request = request
    this.#rendered = rendered
    this.#ended = ended
    this.#timer = new RequestTimer(timeout)
    this.#reports = hasServerTiming || instrumentation ? new CallReports(endpoint, request) : undefined
    // `Array.from({ length })` takes 0.5 µs. See docs/measurements.md#calls-per-tick
    this.#active = calls.map(nothing)
    this.#outcomes = calls.map(nothing)
    this.#left = calls.length
    this.#waiting = calls.some(({ waitsFor }) => waitsFor > 0) ? calls.map(({ waitsFor }) => waitsFor) : undefined
  }

  get request(): FastifyRequest {
    return this.#request
  }
  callValue(name: string): unknown {
    const outcome = this.#outcomes[this.#endpoint.indexOf.get(name)!]!
    return 'body' in outcome ? outcome.body.value : undefined
  }
  timeLeft(): number {
    return this.#timer.timeLeft()
  }

  /** Adds a client. When all clients have left, the calls are aborted. */
  join(reply: FastifyReply): void {
    reply.raw.once('close', leaveOf(this, this.#replies.add(reply)))
  }

  leave(pending: PendingReply): void {
    if (this.#isOver) return
    this.#replies.remove(pending)
    if (this.#replies.waiting.length === 0) this.#replies.run(() => this.#end(CLIENT_LEFT))
  }

  /**
   * Starts the calls of all requests of an event-loop tick together, once all are read: 3 % less CPU with 50
   * connections. See docs/measurements.md#calls-per-tick
   */
  start(): void {
    scheduleAfterPoll(this)
  }

  flush(): void {
    if (this.#isOver) return
    this.#replies.run(() => {
      try {
        this.#startCalls()
      } catch (cause) {
        this.#fail(cause as Error)
      }
    })
  }

  #startCalls(): void {
    const { calls } = this.#endpoint
    // Before the first call, so that a bad request makes no calls.
    this.#rendered ??= renderCalls(this.#endpoint, this)
    if (!this.#isAdmitted()) return
    const { targets, headers } = this.#rendered
    for (let index = 0; index < calls.length && !this.#isOver; index++) {
      const target = targets[index]
      if (target !== undefined) this.#call(index, target)
      else if (calls[index]!.waitsFor === 0 && !headers[index]) this.#callEnded(index, SKIPPED)
    }
    this.#setTimer()
  }

  wakeAt(time: number): void {
    if (!this.#isOver && this.#timer.isAfter(time)) this.#timer.set(time, this)
  }

  #setTimer(): void {
    if (this.#isOver) return
    const { expiresAt } = this.#timer
    this.#timer.set(
      this.#active.reduce((first, call) => Math.min(first, call?.wakesAt ?? first), expiresAt),
      this,
    )
  }

  /** Runs all work that is due. */
  wake(): void {
    const now = performance.now()
    if (now >= this.#timer.expiresAt) return this.#expire()
    for (const call of this.#active) call?.wake(now)
    this.#setTimer()
  }

  /**
   * Whether all required calls can be made. Otherwise no call is made: a gateway at twice its capacity that made some
   * and aborted them served a third of it. See docs/measurements.md#rejections
   */
  #isAdmitted(): boolean {
    for (const { call, calls } of this.#endpoint.admission) {
      const rejection = call.upstream.admission(calls)
      if (!rejection) continue
      const failure = REJECTIONS[rejection]
      this.#reports?.rejected(call, failure)
      this.#log(call, failure, undefined)
      this.#fail(errorOf(call, failure))
      return false
    }
    return true
  }

  /** Makes a call whose dependencies are ready. */
  #callDependent(index: number): void {
    const plan = this.#endpoint.calls[index]!
    if (!this.#rendered!.headers[index] || !(plan.condition?.holdsForCalls(this) ?? true)) {
      return this.callEnded(index, SKIPPED)
    }
    let target: Target
    try {
      target = renderTarget(plan, this)
    } catch (cause) {
      if (cause instanceof BadParameterError) return this.#fail(cause)
      if (!(cause instanceof MissingValueError)) throw cause
      if (plan.needs.some((other) => 'isSkipped' in this.#outcomes[other]!)) return this.callEnded(index, SKIPPED)
      const failure = { reason: 'dependency', message: `was not called: ${cause.message}`, cause } as const
      return this.callEnded(index, { failure })
    }
    this.#call(index, target)
    const call = this.#active[index]
    if (call) this.wakeAt(call.wakesAt)
  }

  #call(index: number, target: Target): void {
    const plan = this.#endpoint.calls[index]!
    const { method, shadow } = plan
    const rendered = this.#rendered!.headers[index]!
    const own = this.#reports ? this.#reports.started(index, rendered) : rendered
    const body = plan.forwardsBody ? forwardedBody(this.#request) : undefined
    const headers = body?.type === undefined ? own : { 'content-type': body.type, ...own }
    const options = { method, headers, body: body?.content ?? null }
    const isSingle = typeof target === 'string'
    const call = isSingle
      ? new Call(this, index, plan, { path: target, ...options })
      : new FanOut(this, index, plan, options, target)
    if (isSingle) shadow?.copy({ path: target, method, headers })
    this.#active[index] = call
    call.start()
  }

  callEnded(index: number, outcome: CallOutcome): void {
    this.#replies.run(() => this.#callEnded(index, outcome))
  }

  #callEnded(index: number, outcome: CallOutcome): void {
    const origin = 'failure' in outcome || 'missing' in outcome ? this.#active[index]?.latest?.origin?.url : undefined
    this.#deactivate(index, 'failure' in outcome ? outcome.failure : undefined)
    if (this.#isOver) return
    const call = this.#endpoint.calls[index]!
    if ('failure' in outcome) {
      this.#log(call, outcome.failure, origin)
      if (!call.isOptional) return this.#fail(errorOf(call, outcome.failure))
    } else if ('missing' in outcome) {
      const { failure, count, of } = outcome.missing
      this.#log(call, failure, origin, count === of)
    }
    this.#outcomes[index] = outcome
    if (--this.#left === 0) return this.#respond()
    for (const dependent of call.dependents) {
      if (--this.#waiting![dependent]! === 0 && !this.#isOver) this.#callDependent(dependent)
    }
  }

  /** Reports a call that ended. */
  #deactivate(index: number, failure: CallFailure | Aborted | undefined): void {
    const call = this.#active[index]
    if (!call) return
    this.#active[index] = undefined
    this.#reports?.ended(index, call, failure)
  }

  #abortCalls(why: CallFailure | Aborted): void {
    for (let index = 0; index < this.#active.length; index++) {
      this.#active[index]?.abort(why === LATE)
      this.#deactivate(index, why)
    }
  }

  /** At the deadline, calls without a response have failed. */
  #expire(): void {
    const origins = this.#active.map((call) => call?.latest?.origin?.url)
    const late = this.#active.map((call) => call?.lateOutcome() ?? { failure: LATE })
    // Aborts all calls as late, also those behind a required one: each has had its time.
    this.#abortCalls(LATE)
    for (const [index, call] of this.#endpoint.calls.entries()) {
      if (this.#outcomes[index]) continue
      this.#log(call, LATE, origins[index])
      if (!call.isOptional) return this.#fail(errorOf(call, LATE))
      this.#outcomes[index] = late[index]!
    }
    this.#respond()
  }

  /** Logs a failure. `isWhole` unless some items of a call have a response. */
  #log(call: PlannedCall, failure: CallFailure, origin: string | undefined, isWhole = true): void {
    const { calls, needsAny } = this.#endpoint
    const isFatal = !call.isOptional || (isWhole && needsAny && calls.length === 1)
    logFailure(this.#request, call, failure, { origin, isFatal })
  }

  #respond(): void {
    this.#end(NOT_NEEDED)
    const durations = this.#reports?.durations
    respond({ endpoint: this.#endpoint, request: this.#request, outcomes: this.#outcomes, durations }, this.#replies)
  }

  #fail(error: Error): void {
    this.#end(NOT_NEEDED)
    this.#replies.sendBatched(error)
  }

  /** Aborts all running calls. */
  #end(why: Aborted): void {
    this.#isOver = true
    this.#timer.clear()
    this.#abortCalls(why)
    this.#ended?.()
  }
}

// A separate function: a closure that a constructor keeps holds past requests in memory for longer. See
// docs/measurements.md#kept-closures
function leaveOf(request: EndpointRequest, pending: PendingReply): () => void {
  return () => request.leave(pending)
}

/** Placeholder until a call has a result. */
function nothing(): never {
  return undefined as never
}
