// Calls a handler in the async context where its request was made. undici calls back in the context where the connection
// was made. See pending-reply.ts.

import { AsyncResource } from 'node:async_hooks'
import type { Dispatcher } from 'undici'

type Method = 'onRequestStart' | 'onResponseStart' | 'onResponseData' | 'onResponseEnd' | 'onResponseError'
type Handler = Required<Pick<Dispatcher.DispatchHandler, Method>>

export class AsyncContextHandler extends AsyncResource implements Handler {
  readonly #handler: Handler

  constructor(handler: Handler) {
    super('AsyncContextHandler', { requireManualDestroy: true })
    this.#handler = handler
  }

  onRequestStart(...args: Parameters<Handler['onRequestStart']>): void {
    this.runInAsyncScope(this.#handler.onRequestStart, this.#handler, ...args)
  }

  onResponseStart(...args: Parameters<Handler['onResponseStart']>): void {
    this.runInAsyncScope(this.#handler.onResponseStart, this.#handler, ...args)
  }

  onResponseData(...args: Parameters<Handler['onResponseData']>): void {
    this.runInAsyncScope(this.#handler.onResponseData, this.#handler, ...args)
  }

  onResponseEnd(...args: Parameters<Handler['onResponseEnd']>): void {
    this.runInAsyncScope(this.#handler.onResponseEnd, this.#handler, ...args)
  }

  onResponseError(...args: Parameters<Handler['onResponseError']>): void {
    this.runInAsyncScope(this.#handler.onResponseError, this.#handler, ...args)
  }
}
