// One request to an origin. It is counted, and the circuit breaker of the origin learns its outcome.

import type { Dispatcher } from 'undici'
import {
  AbortedError,
  type CallFailure,
  failureOf,
  isFaultOfOrigin,
  type Rejection,
  REJECTIONS,
} from '../failure-reasons.ts'
import type { Origin, Slot } from './origin.ts'
import type { PooledRequest } from './pool.ts'

/** A failure on its way through undici's handlers and streams. */
export class ExchangeError extends Error {
  readonly failure: CallFailure
  /** Where the request was sent. */
  readonly origin: Origin | undefined

  constructor(failure: CallFailure, origin?: Origin) {
    super(failure.message, { cause: failure.cause })
    this.failure = failure
    this.origin = origin
  }
}

/** Chooses the origin of a request. */
export interface OriginSource {
  choose: (avoid: Origin | undefined, skipAdmission: boolean, slot?: Slot) => Origin | Rejection
}

/**
 * Sends a request to an origin of the upstream, and returns the origin. The handler of a failed request gets an
 * {@link ExchangeError}, or the {@link AbortedError} that it was aborted with.
 */
export function exchange(
  upstream: OriginSource,
  request: Dispatcher.DispatchOptions,
  handler: Dispatcher.DispatchHandler,
  options: ExchangeOptions = {},
): Origin | undefined {
  const origin = upstream.choose(options.avoid, options.skipAdmission ?? false, options.slot)
  if (typeof origin === 'string') {
    handler.onResponseError?.(NO_CONTROLLER, new ExchangeError(REJECTIONS[origin]))
    return undefined
  }
  const one = new Exchange(origin, handler, options)
  options.requester?.exchangeBegan(one)
  one.dispatch(request, options)
  return origin
}

/** Can cancel a request that waits for a connection. A cache between the two hides the request until it begins. */
export interface Requester {
  exchangeBegan: (exchange: Exchange) => void
}

export interface ExchangeOptions {
  /** Not sent there, if there is another origin. */
  readonly avoid?: Origin | undefined
  /** Skips the admission check: the endpoint request has passed it. */
  readonly skipAdmission?: boolean
  /** Milliseconds after which it is aborted. */
  readonly timeout?: number
  /** Which limit is checked for it. @default 'call' */
  readonly slot?: Slot
  /** Maximum bytes of the response body; -1 for any number. @default the upstream's maxResponseBytes */
  readonly maxBytes?: number | undefined
  /** On a new connection. */
  readonly isFresh?: boolean
  readonly requester?: Requester
}

/** The controller of a request that was never sent. */
export const NO_CONTROLLER: Dispatcher.DispatchController = {
  aborted: true,
  paused: false,
  reason: null,
  abort() {},
  pause() {},
  resume() {},
}

/**
 * Forwards undici's events. undici has a class for that, `DecoratorHandler`, which is deprecated and passes all arguments
 * by spreading them.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #origin: Origin
  readonly #handler: Dispatcher.DispatchHandler
  readonly #isProbe: boolean
  readonly #timeout: NodeJS.Timeout | undefined
  #request: PooledRequest | undefined
  #controller: Dispatcher.DispatchController | undefined
  #isStream: boolean
  #status = 0
  #isOver = false

  constructor(origin: Origin, handler: Dispatcher.DispatchHandler, { timeout, slot }: ExchangeOptions) {
    this.#origin = origin
    this.#handler = handler
    this.#isProbe = origin.circuit?.acquire() ?? false
    this.#isStream = slot === 'stream'
    if (timeout !== undefined) this.#timeout = setTimeout(expire, timeout, this).unref()
    if (!this.#isStream) origin.pending++
  }

  dispatch(request: Dispatcher.DispatchOptions, { maxBytes, isFresh = false }: ExchangeOptions): void {
    // Cancelled while a cache store was looked up.
    if (this.#isOver) return
    const options = { maxBytes, isFresh, isStream: this.#isStream }
    this.#request = this.#origin.pool.dispatch(request, this, options)
  }

  /** Cancels it before it is sent, without calling its handler. `isLate` if it timed out. */
  cancel(isLate: boolean): void {
    if (this.#isOver || this.#controller) return
    const isFailed = isLate && this.#hadFairTime()
    this.#request?.cancel()
    this.#end(isFailed)
  }

  /** Counts its response as a stream from now on. Returns false if the maximum of streams is reached. */
  becomeStream(): boolean {
    if (this.#isOver || this.#status === 0 || this.#isStream) return true
    if (!this.#request!.becomeStream()) return false
    this.#isStream = true
    this.#origin.pending--
    return true
  }

  expire(): void {
    if (this.#controller) this.#controller.abort(new AbortedError(true))
    else this.cancel(true)
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#controller = controller
    this.#handler.onRequestStart?.(controller, context)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
    statusMessage?: string,
  ): void {
    if (statusCode < 200) return
    this.#status = statusCode
    this.#handler.onResponseStart?.(controller, statusCode, headers, statusMessage)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#handler.onResponseData?.(controller, chunk)
  }

  onResponseEnd(
    controller: Dispatcher.DispatchController,
    trailers: Record<string, string | string[] | undefined>,
  ): void {
    this.#end(this.#status >= 500)
    this.#handler.onResponseEnd?.(controller, trailers)
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    if (error instanceof AbortedError) {
      this.#end((error.isLate && this.#hadFairTime()) || this.#status >= 500)
      this.#handler.onResponseError?.(controller, error)
      return
    }
    const isSent = this.#controller !== undefined
    const failure = failureOf(error, { isSent, isReused: this.#request?.isReused ?? false, status: this.#status })
    this.#end(this.#status >= 500 || isFaultOfOrigin(failure))
    this.#handler.onResponseError?.(controller, new ExchangeError(failure, this.#origin))
  }

  #hadFairTime(): boolean {
    return this.#request?.hadFairTime ?? false
  }

  #end(isFailed: boolean): void {
    this.#isOver = true
    clearTimeout(this.#timeout)
    if (!this.#isStream) this.#origin.pending--
    if (isFailed) this.#origin.circuit?.failed()
    else if (this.#status > 0) this.#origin.circuit?.succeeded(this.#isProbe)
  }
}

function expire(one: Exchange): void {
  one.expire()
}
