// Calls the observers of a gateway. An observer that throws breaks no response.

import { ObserverFaults } from 'checked-options'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { isHeaderValue, isTraceHeader } from '../http/header-rules.ts'
import type { CallEnd, GatewayObserver, ObservedCall, ObservedGateway } from '../options/observer.ts'
import { checkedHeaders, type Headers } from '../request/request-headers.ts'

/** The observers of an endpoint, and its calls as they see them. */
export interface Instrumentation {
  readonly observers: Observers
  /** In the order of the endpoint's calls. */
  readonly calls: readonly ObservedCall[]
}

/** In place of the state of an observer whose `callStarted` threw. */
const FAILED = Symbol('failed')

export class Observers {
  readonly #observers: readonly GatewayObserver[]
  readonly #gateway: ObservedGateway
  readonly #addsHeaders: boolean
  readonly #faults: ObserverFaults

  constructor(observers: readonly GatewayObserver[], log: FastifyBaseLogger, gateway: ObservedGateway) {
    this.#observers = observers
    this.#faults = new ObserverFaults(log)
    this.#gateway = gateway
    this.#addsHeaders = observers.some((observer) => 'callHeaders' in observer)
  }

  opened(): void {
    this.#notify('gatewayOpened')
  }

  closed(): void {
    this.#notify('gatewayClosed')
  }

  #notify(event: 'gatewayOpened' | 'gatewayClosed'): void {
    for (const [index, observer] of this.#observers.entries()) {
      try {
        this.#faults.watch(index, event, observer[event]?.(this.#gateway))
      } catch (error) {
        this.#faults.report(index, event, error)
      }
    }
  }

  /**
   * Headers that observers add to a call; undefined if there are none.
   *
   * @throws AGGREGATOR_GATEWAY_INVALID_HEADER for one that cannot be sent
   */
  callHeaders(call: ObservedCall, request: FastifyRequest): Headers | undefined {
    if (!this.#addsHeaders) return undefined
    const all = this.#observers.map((observer) => observer.callHeaders?.(call, request) ?? {})
    const headers = checkedHeaders(Object.assign({}, ...all) as Headers, 'An observer')
    return Object.keys(headers).length === 0 ? undefined : headers
  }

  /** Reports the start of a call, adds trace headers to its headers, and returns the state for {@link ended}. */
  started(call: ObservedCall, request: FastifyRequest, headers: Record<string, string>): readonly unknown[] {
    return this.#observers.map((observer, index) => {
      const traceHeaders: Record<string, string> = {}
      try {
        const state = observer.callStarted?.(call, request, traceHeaders)
        this.#faults.watch(index, 'callStarted', state)
        for (const name in traceHeaders) headers[name] = traceHeader(name, traceHeaders[name]!)
        return state
      } catch (error) {
        this.#faults.report(index, 'callStarted', error)
        return FAILED
      }
    })
  }

  ended(call: ObservedCall, end: CallEnd, states: readonly unknown[]): void {
    for (let index = 0; index < states.length; index++) {
      if (states[index] === FAILED) continue
      try {
        this.#faults.watch(index, 'callEnded', this.#observers[index]!.callEnded?.(call, end, states[index]))
      } catch (error) {
        this.#faults.report(index, 'callEnded', error)
      }
    }
  }
}

/**
 * Checks a header that an observer adds at the start of a call: its cache and coalescing keys are made already.
 *
 * @throws TypeError for one that a response may depend on
 */
function traceHeader(name: string, value: string): string {
  if (isTraceHeader(name) && isHeaderValue(value)) return value
  throw new TypeError(
    `\`callStarted\` may only add trace headers, got "${name}": use \`callHeaders\` or \`headers\` of the call`,
  )
}
