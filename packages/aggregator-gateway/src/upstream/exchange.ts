// One request to an origin, for whoever takes undici's answers: it is counted, and the origin's circuit hears of it.

import type { Dispatcher } from 'undici'
import { failureOf, isFaultOfOrigin } from '../call/attempt.ts'
import type { PooledRequest } from './pool.ts'
import { CallError, GivenUpError, NOT_MADE } from '../call/outcome.ts'
import type { Origin, Room, Upstream } from './upstream.ts'

/**
 * Sends a request to an origin of the upstream. The handler is told a {@link CallError} when it fails, and the
 * {@link GivenUpError} when it was given up by that. Gives the origin.
 */
export function exchange(
  upstream: Upstream,
  options: Dispatcher.DispatchOptions,
  handler: Dispatcher.DispatchHandler,
  how: ExchangeOptions = {},
): Origin | undefined {
  const origin = upstream.choose(how.avoid, how.isAccepted ?? false, how.room)
  if (typeof origin === 'string') {
    handler.onResponseError?.(NO_CONTROLLER, new CallError(NOT_MADE[origin]))
    return undefined
  }
  const one = new Exchange(origin, handler, how)
  how.requester?.exchangeBegan(one)
  one.dispatch(options, how)
  return origin
}

/** Who may give a request up while it waits for a connection. A cache between the two hides it until it has begun. */
export interface Requester {
  exchangeBegan: (one: Exchange) => void
}

export interface ExchangeOptions {
  /** Where it is not sent if there is another origin. */
  readonly avoid?: Origin | undefined
  /** There was room for the request that it belongs to. */
  readonly isAccepted?: boolean
  /** Milliseconds after which it is given up. */
  readonly timeout?: number
  /** What it needs room for. @default 'call' */
  readonly room?: Room
  /** Maximum bytes of the response body; -1 for any number. @default the upstream's maxResponseSize */
  readonly mostBytes?: number | undefined
  /** On a new connection. */
  readonly isFresh?: boolean
  readonly requester?: Requester
}

/** Of a request that was never made. */
export const NO_CONTROLLER: Dispatcher.DispatchController = {
  aborted: true,
  paused: false,
  reason: null,
  abort() {},
  pause() {},
  resume() {},
}

export class Exchange implements Dispatcher.DispatchHandler {
  readonly #origin: Origin
  readonly #handler: Dispatcher.DispatchHandler
  readonly #isTry: boolean
  readonly #timeout: NodeJS.Timeout | undefined
  #request: PooledRequest | undefined
  #controller: Dispatcher.DispatchController | undefined
  #isStream: boolean
  #status = 0
  #isOver = false

  constructor(origin: Origin, handler: Dispatcher.DispatchHandler, { timeout, room }: ExchangeOptions) {
    this.#origin = origin
    this.#handler = handler
    this.#isTry = origin.circuit?.begin() ?? false
    this.#isStream = room === 'stream'
    if (timeout !== undefined) this.#timeout = setTimeout(expire, timeout, this).unref()
    if (!this.#isStream) origin.pending++
  }

  dispatch(options: Dispatcher.DispatchOptions, { mostBytes, isFresh = false }: ExchangeOptions): void {
    const how = { mostBytes, isFresh, isStream: this.#isStream }
    this.#request = this.#origin.connections.dispatch(options, this, how)
  }

  /** Gives it up, if it has not begun: then its handler is told nothing. `isLate` when it had its time. */
  cancel(isLate: boolean): void {
    if (this.#isOver || this.#controller) return
    const isFailed = isLate && this.#hadItsTime()
    this.#request?.cancel()
    this.#end(isFailed)
  }

  /** Its response counts as a stream from now on, no more as a call; false when there are too many. */
  becomeStream(): boolean {
    if (this.#isOver || this.#status === 0 || this.#isStream) return true
    if (!this.#request!.becomeStream()) return false
    this.#isStream = true
    this.#origin.pending--
    return true
  }

  expire(): void {
    if (this.#controller) this.#controller.abort(new GivenUpError(true))
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
    if (error instanceof GivenUpError) {
      this.#end((error.isLate && this.#hadItsTime()) || this.#status >= 500)
      this.#handler.onResponseError?.(controller, error)
      return
    }
    const isSent = this.#controller !== undefined
    const failure = failureOf(error, { isSent, isReused: this.#request?.isReused ?? false, status: this.#status })
    this.#end(this.#status >= 500 || isFaultOfOrigin(failure))
    this.#handler.onResponseError?.(controller, new CallError(failure, this.#origin))
  }

  #hadItsTime(): boolean {
    return this.#request?.hadItsTime ?? false
  }

  #end(isFailed: boolean): void {
    this.#isOver = true
    clearTimeout(this.#timeout)
    if (!this.#isStream) this.#origin.pending--
    if (isFailed) this.#origin.circuit?.failed()
    else if (this.#status > 0) this.#origin.circuit?.succeeded(this.#isTry)
  }
}

function expire(one: Exchange): void {
  one.expire()
}
