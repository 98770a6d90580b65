// Those who want to see each call, such as metrics, traces and logs: what they are told, and when.

import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { Call } from '../call/call.ts'
import { checkedHeaders, type Headers } from '../request/request-headers.ts'
import { isHeaderValue, isTraceHeader } from '../http/header-rules.ts'
import type { CallFailure, FailureReason } from '../call/outcome.ts'
import type { OriginStatus, Upstream } from '../upstream/upstream.ts'

/** A call of an endpoint, or what it hands on, which is named `passThrough`: one object for all the times that it is made. */
export interface ObservedCall {
  /** The endpoint's method and path; the path has the prefix, and names of parameters in place of values. */
  readonly endpoint: { readonly method: string; readonly path: string }
  /** The call's name. */
  readonly name: string
  /** The upstream's name. */
  readonly upstream: string
  /** The method that the upstream is asked by. */
  readonly method: string
  /** The path that the upstream is asked for, with places for values. */
  readonly path: string
}

/** What became of a call. */
export interface CallEnd {
  /** Milliseconds from its start to its end, all attempts together. */
  readonly duration: number
  /** How many attempts there were: the first, retries and a hedge, with those that were refused. */
  readonly attempts: number
  /** Whether one of them was a hedge. */
  readonly hedged: boolean
  /** The origin that was asked last or has answered; nothing when none could be asked. */
  readonly origin: string | undefined
  /** The status that it has answered with; nothing when it has not. */
  readonly status: number | undefined
  /** Why there is no answer: a reason of `x-gateway-missing`, `client-left` when nobody waited any more, or `given-up` when another call had failed that the answer needs; nothing when there is an answer. */
  readonly reason: FailureReason | 'client-left' | 'given-up' | undefined
  /** The reason in words, to follow the call's name. */
  readonly message: string | undefined
  /** The error behind it, if there is one. */
  readonly cause: unknown
}

/** What is known of all upstreams. */
export interface GatewayStatus {
  /** Each origin of each upstream, by the upstream's name. */
  upstreams: Record<string, OriginStatus[]>
}

/** A gateway, as its observers know it. */
export interface ObservedGateway {
  /** How its upstreams are now. */
  readonly status: () => GatewayStatus
}

/**
 * Is told of each call, once when it starts and once when it is over, whatever came of it, also when it was refused as
 * there was no room or its circuit was open. What it throws is logged the first time, and breaks no answer.
 *
 * @example
 * const slowCalls: GatewayObserver<FastifyRequest> = {
 *   callStarted: (call, request) => request,
 *   callEnded: (call, { duration }, request) => {
 *     if (duration > 500) request.log.warn({ call: call.name, duration }, 'slow call')
 *   },
 * }
 */
// Methods, not properties: an observer with a state of its own is an observer of any state.
export interface GatewayObserver<State = unknown> {
  /** A gateway is ready, or gone. One observer may serve several. */
  gatewayOpened?(gateway: ObservedGateway): void
  gatewayClosed?(gateway: ObservedGateway): void
  /**
   * Headers to add to a call. It is called for each request, after the request's hooks, so that requests share a response
   * only if these headers are equal. An error fails the request.
   */
  callHeaders?(call: ObservedCall, request: FastifyRequest): Readonly<Record<string, string>>
  /**
   * A call is about to be made for this request. Requests that are coalesced make one call, for the first of them. The
   * upstream gets the headers that are put into `traceHeaders`: those that identify a trace, such as `traceparent` and
   * `x-request-id`, and no others. The returned state is passed to `callEnded`.
   */
  callStarted?(call: ObservedCall, request: FastifyRequest, traceHeaders: Record<string, string>): State
  /** The call is over. It is not told of a call whose start it has failed to take in. */
  callEnded?(call: ObservedCall, end: CallEnd, state: State): void
}

/** Why a call was given up, where that is nobody's failure. */
export interface GivenUp {
  readonly reason: 'client-left' | 'given-up'
  readonly message: string
}

export const CLIENT_LEFT: GivenUp = { reason: 'client-left', message: 'was given up, as nobody waits for it' }
export const NOT_NEEDED: GivenUp = { reason: 'given-up', message: 'was given up, as the answer fails without it' }

/** How a call ended that has just been answered, has failed, or is given up. */
export function endOf(call: Call, failure: CallFailure | GivenUp | undefined): CallEnd {
  const { latest, attempts, isHedged } = call
  return {
    duration: call.elapsed(),
    attempts,
    hedged: isHedged,
    origin: latest?.origin?.url,
    status: latest && latest.status !== 0 ? latest.status : undefined,
    reason: failure?.reason,
    message: failure?.message,
    cause: failure && 'cause' in failure ? failure.cause : undefined,
  }
}

/** How a request ended that was handed on. */
export function handedOnEnd(
  { duration, attempts, origin, status }: Pick<CallEnd, 'duration' | 'attempts' | 'origin' | 'status'>,
  failure: CallFailure | GivenUp | undefined,
): CallEnd {
  const cause = failure && 'cause' in failure ? failure.cause : undefined
  return {
    ...{ duration, attempts, hedged: false, origin, status },
    ...{ reason: failure?.reason, message: failure?.message, cause },
  }
}

/** How a call ended that was refused before its first attempt began. */
export function refusedEnd({ reason, message }: CallFailure): CallEnd {
  const nobody = { origin: undefined, status: undefined, cause: undefined }
  return { duration: 0, attempts: 1, hedged: false, ...nobody, reason, message }
}

/** The calls of an endpoint, and who is told of them. */
export interface Observing {
  readonly observers: Observers
  /** In the order of the endpoint's calls. */
  readonly calls: readonly ObservedCall[]
}

/** In place of the state of an observer that has thrown when the call started. */
const FAILED = Symbol('failed')

/** The observers of a gateway. */
export class Observers {
  readonly #observers: readonly GatewayObserver[]
  readonly #log: FastifyBaseLogger
  readonly #gateway: ObservedGateway
  readonly #addsHeaders: boolean
  /** What has thrown: what fails for each call would fill the log. */
  readonly #faulty = new Set<string>()

  constructor(observers: readonly GatewayObserver[], log: FastifyBaseLogger, upstreams: ReadonlyMap<string, Upstream>) {
    this.#observers = observers
    this.#log = log
    this.#gateway = { status: statusOf(upstreams) }
    this.#addsHeaders = observers.some((observer) => 'callHeaders' in observer)
  }

  opened(): void {
    for (const [index, observer] of this.#observers.entries()) {
      try {
        observer.gatewayOpened?.(this.#gateway)
      } catch (error) {
        this.#complain(`observers[${index}].gatewayOpened`, error)
      }
    }
  }

  closed(): void {
    for (const [index, observer] of this.#observers.entries()) {
      try {
        observer.gatewayClosed?.(this.#gateway)
      } catch (error) {
        this.#complain(`observers[${index}].gatewayClosed`, error)
      }
    }
  }

  /**
   * Headers that observers add to a call; nothing where there are none.
   *
   * @throws GATEWAY_INVALID_HEADER for one that cannot be sent
   */
  callHeaders(call: ObservedCall, request: FastifyRequest): Headers | undefined {
    if (!this.#addsHeaders) return undefined
    const all = this.#observers.map((observer) => observer.callHeaders?.(call, request) ?? {})
    const headers = checkedHeaders(Object.assign({}, ...all) as Headers, 'An observer')
    return Object.keys(headers).length === 0 ? undefined : headers
  }

  /** A call starts, with these headers, which get those of traces; gives what belongs to its end. */
  started(call: ObservedCall, request: FastifyRequest, headers: Record<string, string>): readonly unknown[] {
    return this.#observers.map((observer, index) => {
      const traceHeaders: Record<string, string> = {}
      try {
        const state = observer.callStarted?.(call, request, traceHeaders)
        for (const name in traceHeaders) headers[name] = traceHeader(name, traceHeaders[name]!)
        return state
      } catch (error) {
        this.#complain(`observers[${index}].callStarted`, error)
        return FAILED
      }
    })
  }

  ended(call: ObservedCall, end: CallEnd, states: readonly unknown[]): void {
    for (let index = 0; index < states.length; index++) {
      if (states[index] === FAILED) continue
      try {
        this.#observers[index]!.callEnded?.(call, end, states[index])
      } catch (error) {
        this.#complain(`observers[${index}].callEnded`, error)
      }
    }
  }

  #complain(observer: string, err: unknown): void {
    if (this.#faulty.has(observer)) return
    this.#faulty.add(observer)
    this.#log.error({ err, observer }, 'an observer of the gateway has thrown; this is said once')
  }
}

/**
 * A header that an observer has added at the start of a call, when it is decided already who shares its response.
 *
 * @throws TypeError for one that a response may depend on
 */
function traceHeader(name: string, value: string): string {
  if (isTraceHeader(name) && isHeaderValue(value)) return value
  throw new TypeError(
    `Expected \`callStarted\` to add headers of traces, got "${name}": use \`callHeaders\`, or \`headers\` of the call`,
  )
}

/** Tells how upstreams are. */
export function statusOf(upstreams: ReadonlyMap<string, Upstream>): () => GatewayStatus {
  return () => ({
    upstreams: Object.fromEntries([...upstreams].map(([name, upstream]) => [name, upstream.status()])),
  })
}
