// The contract of observers: what they are called with, and when.

import type { FastifyRequest } from 'fastify'
import type { FailureReason } from '../failures.ts'

/** What is known of an origin. */
export interface OriginStatus {
  origin: string
  /** Whether calls are stopped, as too many have failed. */
  circuit: 'closed' | 'open' | 'off'
  /** Calls that are not over, those that wait for a connection among them. */
  pending: number
  /** Pass-through bodies in transfer. */
  streams: number
  /** Connections that are open. */
  connected: number
}

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
