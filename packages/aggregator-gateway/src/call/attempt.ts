// One request to an upstream, from its dispatch until its response is read or it is aborted.

import type { Dispatcher } from 'undici'
import { AbortedError, type CallFailure, failureOf, isFaultOfOrigin, REJECTIONS } from '../failure-reasons.ts'
import { type Exchange, ExchangeError, type Requester } from '../upstream/exchange.ts'
import type { Origin } from '../upstream/origin.ts'
import type { PooledRequest, SendOptions } from '../upstream/pool.ts'
import type { UpstreamCache } from '../upstream/upstream.ts'
import type { CallOutcome } from './outcome.ts'
import type { PlannedCall } from './planned-call.ts'
import { type ResponseOwner, ResponseReader } from './response-reader.ts'

/** The call that an attempt belongs to. */
export interface AttemptOwner {
  /** Called once, unless the attempt was aborted. */
  attemptEnded: (attempt: Attempt, outcome: CallOutcome) => void
}

export interface AttemptOptions extends SendOptions {
  /** Not sent there, if there is another origin. */
  readonly avoid?: Origin | undefined
  /** Skips the admission check: the endpoint request has passed it. */
  readonly skipAdmission?: boolean
}

/** A request that passes through a response cache, which hides its exchange until it begins. */
interface CachedRequest {
  readonly cache: UpstreamCache
  readonly options: Dispatcher.DispatchOptions
  exchange: Exchange | undefined
  origin: Origin | undefined
}

export class Attempt implements Dispatcher.DispatchHandler, Requester, ResponseOwner {
  readonly #owner: AttemptOwner
  readonly #plan: PlannedCall
  readonly #response: ResponseReader
  #controller: Dispatcher.DispatchController | undefined
  #origin: Origin | undefined
  /** It finds out whether a broken origin works again. */
  #isProbe = false
  #isOver = false
  /** Its place in the queue or on a connection, unless there is a cache. */
  #request: PooledRequest | undefined
  #cached: CachedRequest | undefined

  constructor(owner: AttemptOwner, plan: PlannedCall) {
    this.#owner = owner
    this.#plan = plan
    this.#response = new ResponseReader(plan.reader, plan.upstream.maxResponseBytes)
  }

  /** Where it was sent. */
  get origin(): Origin | undefined {
    return this.#origin ?? this.#cached?.origin
  }

  /** Whether bytes of it may have reached the upstream. */
  get isSent(): boolean {
    return this.#controller !== undefined
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** The status of the response; 0 before it. */
  get status(): number {
    return this.#response.status
  }

  dispatch(options: Dispatcher.DispatchOptions, how: AttemptOptions): void {
    const { upstream } = this.#plan
    const { cache } = upstream
    if (cache) {
      this.#cached = { cache, options, exchange: undefined, origin: undefined }
      return cache.dispatch(options, this, { ...how, requester: this })
    }
    const origin = upstream.choose(how.avoid, how.skipAdmission ?? false)
    if (typeof origin === 'string') return this.#fail(REJECTIONS[origin])
    origin.pending++
    this.#origin = origin
    this.#isProbe = origin.circuit?.acquire() ?? false
    this.#request = origin.pool.dispatch(options, this, how)
  }

  exchangeBegan(exchange: Exchange): void {
    if (this.#isOver) exchange.cancel(false)
    else this.#cached!.exchange = exchange
  }

  /** Ends it without calling the owner. `isLate` if it timed out, which counts against the origin. */
  abort(isLate: boolean): void {
    if (this.#isOver) return
    if (isLate && this.#request?.hadFairTime) this.#origin?.circuit?.failed()
    this.#end()
    if (this.#controller) this.#controller.abort(new AbortedError(isLate))
    else if (this.#cached) this.#cached.exchange?.cancel(isLate)
    else this.#request?.cancel()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (statusCode < 200 || this.#isOver) return
    const failure = this.#response.start(statusCode, headers, (controller.rawHeaders as unknown[]).length / 2)
    if (!failure) return
    this.#fail(failure)
    controller.abort(new Error(failure.message))
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#response.data(chunk)
  }

  onResponseEnd(): void {
    if (!this.#isOver) this.#response.end(this)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return
    if (!(error instanceof ExchangeError)) {
      const isReused = this.#request?.isReused ?? false
      return this.#fail(failureOf(error, { isSent: this.isSent, isReused, status: this.status }))
    }
    if (this.#cached) this.#cached.origin = error.origin
    this.#fail(error.failure)
  }

  responseRead(outcome: CallOutcome): void {
    if ('failure' in outcome) return this.#fail(outcome.failure, outcome)
    this.#origin?.circuit?.succeeded(this.#isProbe)
    this.#end()
    this.#owner.attemptEnded(this, outcome)
  }

  #fail(failure: CallFailure, outcome: CallOutcome = { failure }): void {
    if (isFaultOfOrigin(failure)) this.#origin?.circuit?.failed()
    else if (this.status > 0) this.#origin?.circuit?.succeeded(this.#isProbe)
    // An unusable response must not be cached.
    if (this.#cached && (failure.reason === 'body' || failure.reason === 'content-type')) {
      this.#cached.cache.forget(this.#cached.options)
    }
    this.#end()
    this.#owner.attemptEnded(this, outcome)
  }

  #end(): void {
    this.#isOver = true
    if (this.#origin) this.#origin.pending--
  }
}
