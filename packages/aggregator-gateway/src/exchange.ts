// One request to an origin, for whoever takes undici's answers: it is counted, and the origin's circuit hears of it.

import type { Dispatcher } from 'undici'
import { failureOf, isFaultOfOrigin } from './attempt.ts'
import { CallError, GivenUpError, NOT_MADE } from './outcome.ts'
import type { Origin, Upstream } from './upstream.ts'

/**
 * Sends a request to an origin of the upstream. The handler is told a {@link CallError} when it fails, and the
 * {@link GivenUpError} when it was given up by that. Gives the origin.
 */
export function exchange(
  upstream: Upstream,
  options: Dispatcher.DispatchOptions,
  handler: Dispatcher.DispatchHandler,
  { avoid, isAccepted = false, timeout }: ExchangeOptions = {},
): Origin | undefined {
  const origin = upstream.choose(avoid, isAccepted)
  if (typeof origin === 'string') {
    handler.onResponseError?.(NO_CONTROLLER, new CallError(NOT_MADE[origin]))
    return undefined
  }
  new Exchange(origin, handler, timeout).dispatch(options)
  return origin
}

export interface ExchangeOptions {
  /** Where it is not sent if there is another origin. */
  readonly avoid?: Origin | undefined
  /** There was room for the request that it belongs to. */
  readonly isAccepted?: boolean
  /** Milliseconds after which it is given up. */
  readonly timeout?: number
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

/** What undici says when a reader of the answer, or we, have stopped, or have asked for what cannot be. */
const NOT_OF_ORIGIN: readonly unknown[] = ['UND_ERR_ABORTED', 'UND_ERR_INVALID_ARG']

class Exchange implements Dispatcher.DispatchHandler {
  readonly #origin: Origin
  readonly #handler: Dispatcher.DispatchHandler
  readonly #isTry: boolean
  readonly #timeout: NodeJS.Timeout | undefined
  #controller: Dispatcher.DispatchController | undefined
  #isSent = false
  #isLate = false
  #status = 0

  constructor(origin: Origin, handler: Dispatcher.DispatchHandler, timeout: number | undefined) {
    this.#origin = origin
    this.#handler = handler
    this.#isTry = origin.circuit?.begin() ?? false
    if (timeout !== undefined) this.#timeout = setTimeout(expire, timeout, this).unref()
    origin.pending++
  }

  dispatch(options: Dispatcher.DispatchOptions): void {
    this.#origin.connections.dispatch(options, this)
  }

  expire(): void {
    this.#isLate = true
    // Without one it still waits for a connection, and is given up when it has it.
    this.#controller?.abort(new GivenUpError(true))
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#controller = controller
    if (this.#isLate) return controller.abort(new GivenUpError(true))
    this.#isSent = true
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
      this.#end(error.isLate || this.#status >= 500)
      this.#handler.onResponseError?.(controller, error)
      return
    }
    const failure = failureOf(error, this.#isSent, this.#status)
    const isTheirs = !NOT_OF_ORIGIN.includes((error as { code?: string }).code)
    this.#end(this.#status >= 500 || (isTheirs && isFaultOfOrigin(failure)))
    this.#handler.onResponseError?.(controller, new CallError(failure, this.#origin))
  }

  #end(isFailed: boolean): void {
    clearTimeout(this.#timeout)
    this.#origin.pending--
    if (isFailed) this.#origin.circuit?.failed()
    else if (this.#status > 0) this.#origin.circuit?.succeeded(this.#isTry)
  }
}

function expire(one: Exchange): void {
  one.expire()
}
