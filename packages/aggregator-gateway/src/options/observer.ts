// The contract of observers.

import type { FastifyRequest } from 'fastify'
import type { FailureReason } from '../failure-reasons.ts'

/** The state of an origin. */
export interface OriginStatus {
  origin: string
  /** `open` while calls are stopped because too many failed; `off` without a circuit breaker. */
  circuit: 'closed' | 'open' | 'off'
  /** Running and queued calls. */
  pending: number
  /** Pass-through bodies in transfer. */
  streams: number
  /** Open connections. */
  connected: number
}

/** A call of an endpoint, or the request of a pass-through, whose name is `passThrough`. It is one object for all requests. */
export interface ObservedCall {
  /** Method and path of the endpoint. The path has the prefix, and parameter names such as `:id`. */
  readonly endpoint: { readonly method: string; readonly path: string }
  /** Name of the call. */
  readonly name: string
  /** Name of the upstream. */
  readonly upstream: string
  /** Method of the upstream's request. */
  readonly method: string
  /** Path of the upstream's request, with placeholders. */
  readonly path: string
}

/** How a call ended. */
export interface CallEnd {
  /** Duration of the call in milliseconds, all attempts included. */
  readonly duration: number
  /** Number of attempts: the first, retries, the hedged request, and rejected ones. */
  readonly attempts: number
  /** Whether a hedged request was sent. */
  readonly hedged: boolean
  /** Origin of the last attempt or of the response; undefined if no origin was available. */
  readonly origin: string | undefined
  /** Status of the upstream; undefined without a response. */
  readonly status: number | undefined
  /** Why the call failed: a reason of `x-gateway-missing`, `client-left`, or `aborted` because another required call failed or the gateway closes; undefined on success. */
  readonly reason: FailureReason | 'client-left' | 'aborted' | undefined
  /** The reason in words, to follow the call's name. */
  readonly message: string | undefined
  /** The underlying error, if there is one. */
  readonly cause: unknown
}

/** The state of all upstreams. */
export interface GatewayStatus {
  /** Origins of each upstream, by the name of the upstream. */
  upstreams: Record<string, OriginStatus[]>
}

/** A gateway as observers see it. */
export interface ObservedGateway {
  /** Returns the current state of its upstreams. */
  readonly status: () => GatewayStatus
}

/**
 * Sees each call twice: when it starts and when it ends. That includes calls that were rejected because of a full queue or
 * an open circuit. The first error of each method is logged; it breaks no response.
 *
 * @example
 * const slowCalls: GatewayObserver<FastifyRequest> = {
 *   callStarted: (call, request) => request,
 *   callEnded: (call, { duration }, request) => {
 *     if (duration > 500) request.log.warn({ call: call.name, duration }, 'slow call')
 *   },
 * }
 */
// Methods, not properties: so an observer with its own state type is assignable to an observer of any state.
export interface GatewayObserver<State = unknown> {
  /** Called when a gateway is ready. One observer may serve several gateways. */
  gatewayOpened?(gateway: ObservedGateway): void
  /** Called when a gateway closes. */
  gatewayClosed?(gateway: ObservedGateway): void
  /**
   * Returns headers to add to a call. It is called for each request, after the request's hooks. Requests share a response
   * only if these headers are equal. An error fails the request.
   */
  callHeaders?(call: ObservedCall, request: FastifyRequest): Readonly<Record<string, string>>
  /**
   * Called before a call is made. Coalesced requests make one call, for the first of them. It may add headers that identify a
   * trace, such as `traceparent` and `x-request-id`, to `traceHeaders`. The returned state is passed to `callEnded`.
   */
  callStarted?(call: ObservedCall, request: FastifyRequest, traceHeaders: Record<string, string>): State
  /** Called when the call is over, unless this observer's `callStarted` threw. */
  callEnded?(call: ObservedCall, end: CallEnd, state: State): void
}
