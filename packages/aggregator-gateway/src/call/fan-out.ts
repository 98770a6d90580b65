// A call with `forEach`: a request for each item of a list, a limited number at the same time. Items with the same path share
// a request. The responses are an array in the order of the items.

import type { Dispatcher } from 'undici'
import { LATE, TOO_LARGE } from '../failure-reasons.ts'
import type { ItemPaths } from '../request/item-list.ts'
import type { Attempt } from './attempt.ts'
import { Call, type CallOwner, type RunningCall } from './call.ts'
import { arrayOfBodies } from './json-body.ts'
import type { CallOutcome } from './outcome.ts'
import type { PlannedCall } from './planned-call.ts'

type ItemOutcome = Exclude<CallOutcome, { readonly isSkipped: true }>

/** A request that all items with its path share. */
interface ItemRequest {
  readonly path: string
  /** Number of items. */
  items: number
  outcome: ItemOutcome | undefined
}

export class FanOut implements RunningCall, CallOwner {
  readonly #owner: CallOwner
  readonly #index: number
  readonly #plan: PlannedCall
  readonly #options: Omit<Dispatcher.DispatchOptions, 'path'>
  /** In the order of the list. */
  readonly #items: readonly (ItemRequest | { readonly outcome: ItemOutcome })[]
  readonly #requests: readonly ItemRequest[]
  readonly #running = new Map<number, Call>()
  readonly #startedAt = performance.now()
  readonly #expiresAt: number
  readonly #totals = { attempts: 0, isHedged: false, latest: undefined as Attempt | undefined, length: 0 }
  /** Index of the next request. */
  #next = 0
  #state: 'idle' | 'starting' | 'over' = 'idle'

  constructor(
    owner: CallOwner,
    index: number,
    plan: PlannedCall,
    options: Omit<Dispatcher.DispatchOptions, 'path'>,
    paths: ItemPaths,
  ) {
    this.#owner = owner
    this.#index = index
    // The timeout is one budget for all items.
    this.#plan = { ...plan, timeout: undefined }
    this.#expiresAt = this.#startedAt + (plan.timeout ?? Number.POSITIVE_INFINITY)
    this.#options = options
    const requests = new Map<string, ItemRequest>()
    this.#items = paths.map((path) => (typeof path === 'string' ? sharedRequest(path, requests) : withoutRequest(path)))
    this.#requests = [...requests.values()]
  }

  get attempts(): number {
    return this.#totals.attempts
  }

  get isHedged(): boolean {
    return this.#totals.isHedged
  }

  get latest(): Attempt | undefined {
    return this.#totals.latest
  }

  get wakesAt(): number {
    return [...this.#running.values()].reduce((first, call) => Math.min(first, call.wakesAt), this.#expiresAt)
  }

  elapsed(): number {
    return performance.now() - this.#startedAt
  }

  timeLeft(): number {
    return Math.min(this.#owner.timeLeft(), this.#expiresAt - performance.now())
  }

  wakeAt(time: number): void {
    this.#owner.wakeAt(time)
  }

  start(): void {
    const unusable = this.#items.find(({ outcome }) => outcome !== undefined)
    if (unusable && !this.#plan.isOptional) return this.#end(unusable.outcome!)
    this.#startNext()
  }

  /** Starts as many requests as may run. A request that ends immediately must not start the next one recursively. */
  #startNext(): void {
    if (this.#state !== 'idle') return
    this.#state = 'starting'
    while (this.#isStarting && this.#next < this.#requests.length && this.#hasRoom()) this.#startRequest(this.#next++)
    if (!this.#isStarting) return
    this.#state = 'idle'
    if (this.#running.size === 0) this.#end(this.lateOutcome())
  }

  /** Its requests may have ended it. */
  get #isStarting(): boolean {
    return this.#state === 'starting'
  }

  /** A full queue lowers the concurrency to 1, rather than to fail a request that was admitted. */
  #hasRoom(): boolean {
    const { items, upstream } = this.#plan
    if (this.#running.size === 0) return true
    return this.#running.size < items!.concurrency && upstream.admission(1) !== 'overloaded'
  }

  #startRequest(index: number): void {
    const options = { ...this.#options, path: this.#requests[index]!.path }
    const call = new Call(this, index, this.#plan, options)
    this.#plan.shadow?.copy(options)
    this.#running.set(index, call)
    // Only the first one can be rejected by the queue, because nothing is wasted then.
    call.start(index > 0 || this.#plan.waitsFor > 0)
    if (this.#running.has(index) && call.wakesAt < Number.POSITIVE_INFINITY) this.wakeAt(call.wakesAt)
  }

  callEnded(index: number, outcome: CallOutcome): void {
    this.#count(this.#running.get(index)!)
    this.#running.delete(index)
    const request = this.#requests[index]!
    request.outcome = this.#limited(outcome as ItemOutcome, request)
    if ('failure' in request.outcome) {
      if (!this.#plan.isOptional) return this.#end(request.outcome)
      // The others would fail the same, one after the other in this event-loop tick.
      if (request.outcome.failure.reason === 'circuit-open') this.#failOthers(request.outcome)
    }
    this.#startNext()
  }

  /** The limit of a response holds for all items together. */
  #limited(outcome: ItemOutcome, { items }: ItemRequest): ItemOutcome {
    if ('failure' in outcome) return outcome
    this.#totals.length += outcome.body.text.length * items
    return this.#totals.length > this.#plan.upstream.maxResponseBytes ? { failure: TOO_LARGE } : outcome
  }

  #failOthers(outcome: ItemOutcome): void {
    for (; this.#next < this.#requests.length; this.#next++) this.#requests[this.#next]!.outcome = outcome
  }

  #count({ attempts, isHedged, latest }: Call): void {
    this.#totals.attempts += attempts
    this.#totals.isHedged ||= isHedged
    this.#totals.latest = latest
  }

  wake(now: number): void {
    if (this.#state === 'over') return
    if (now < this.#expiresAt) {
      for (const call of this.#running.values()) call.wake(now)
      return
    }
    this.abort(true)
    this.#owner.callEnded(this.#index, this.lateOutcome())
  }

  abort(isLate: boolean): void {
    this.#state = 'over'
    for (const call of this.#running.values()) {
      call.abort(isLate)
      this.#count(call)
    }
    this.#running.clear()
  }

  #end(outcome: CallOutcome): void {
    this.abort(false)
    this.#owner.callEnded(this.#index, outcome)
  }

  /** The responses until now. Items without one are late. */
  lateOutcome(): CallOutcome {
    const outcomes = this.#items.map(({ outcome = { failure: LATE } }) => outcome)
    const failures = outcomes.flatMap((outcome) => ('failure' in outcome ? outcome.failure : []))
    const [failure] = failures
    if (failure && !this.#plan.isOptional) return { failure }
    const body = arrayOfBodies(outcomes.map((outcome) => ('body' in outcome ? outcome.body : undefined)))
    return failure ? { body, missing: { count: failures.length, of: outcomes.length, failure } } : { body }
  }
}

/** The request for a path, which earlier items may have. */
function sharedRequest(path: string, requests: Map<string, ItemRequest>): ItemRequest {
  const request = requests.get(path) ?? { path, items: 0, outcome: undefined }
  request.items++
  requests.set(path, request)
  return request
}

function withoutRequest(cause: Error): { readonly outcome: ItemOutcome } {
  return { outcome: { failure: { reason: 'dependency', message: `was not called: ${cause.message}`, cause } } }
}
