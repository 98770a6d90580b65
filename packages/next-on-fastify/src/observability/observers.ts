// Notifies observers, such as metrics, of the requests that Next serves.

import { finished } from 'node:stream'
import { ObserverFaults } from 'checked-options'
import type { FastifyBaseLogger } from 'fastify'
import type { NextHandler } from '../next/handler-types.ts'
import type { NextStats } from './stats.ts'

/** A Next app, as its observers see it. */
export interface ObservedNext {
  /** The path prefix of the app. Empty for all paths. */
  readonly prefix: string
  /** Statistics since the start, as `app.nextStats()` returns them. */
  readonly stats: () => NextStats
}

/** A request that Next has served. */
export interface ServedRequest {
  readonly method: string
  /** The URL as the client has sent it. */
  readonly url: string
  /** The status of the response. Undefined if the client had disconnected before. */
  readonly status: number | undefined
  /** Time from the call of Next to the end of the response, or until the client disconnected, in ms. */
  readonly duration: number
  /** Whether the client disconnected before the end. */
  readonly aborted: boolean
}

/**
 * Callbacks for requests that Next serves. Responses from the response cache are only counted. The first error of a
 * callback is logged; errors never affect responses.
 *
 * @example
 * const slowPages: NextObserver = {
 *   requestServed: (next, { url, duration }) => {
 *     if (duration > 500) app.log.warn({ url, duration }, 'slow page')
 *   },
 * }
 */
export interface NextObserver {
  /** Called when a Next app is ready. One observer may serve several apps. */
  nextOpened?(next: ObservedNext): void
  /** Called before a Next app closes. */
  nextClosed?(next: ObservedNext): void
  /** Called once per request, after its response has ended. */
  requestServed?(next: ObservedNext, request: ServedRequest): void
}

/** The observers of one Next app. */
export class Observers {
  readonly #observers: readonly NextObserver[]
  readonly #next: ObservedNext
  readonly #faults: ObserverFaults

  constructor(observers: readonly NextObserver[], log: FastifyBaseLogger, next: ObservedNext) {
    this.#observers = observers
    this.#faults = new ObserverFaults(log)
    this.#next = next
  }

  opened(): void {
    this.#notify('nextOpened', (observer) => observer.nextOpened?.(this.#next))
  }

  closed(): void {
    this.#notify('nextClosed', (observer) => observer.nextClosed?.(this.#next))
  }

  /** Wraps a handler, so that observers are notified of its responses. */
  observe(handler: NextHandler): NextHandler {
    if (!this.#observers.some((observer) => 'requestServed' in observer)) return handler
    return (request, response) => {
      // Next may change the request.
      const { method = '', url = '' } = request
      const start = performance.now()
      finished(response, (error) => {
        const status = response.headersSent ? response.statusCode : undefined
        const duration = performance.now() - start
        const served = { method, url, status, duration, aborted: error !== undefined && error !== null }
        this.#notify('requestServed', (observer) => observer.requestServed?.(this.#next, served))
      })
      return handler(request, response)
    }
  }

  #notify(name: keyof NextObserver, notify: (observer: NextObserver) => unknown): void {
    for (const [index, observer] of this.#observers.entries()) {
      try {
        this.#faults.watch(index, name, notify(observer))
      } catch (err) {
        this.#faults.report(index, name, err)
      }
    }
  }
}
