// Reports calls to observers, to `server-timing` and to the log.

import type { FastifyRequest } from 'fastify'
import type { RunningCall } from '../call/call.ts'
import type { PlannedCall } from '../call/planned-call.ts'
import type { Aborted, CallFailure } from '../failure-reasons.ts'
import { callEnd, NEVER_SENT } from '../observability/call-end.ts'
import type { Headers } from '../request/request-headers.ts'
import type { PlannedEndpoint } from './planned-endpoint.ts'

/** The reports of one request, whose endpoint has observers or `serverTiming`. */
export class CallReports {
  readonly #endpoint: PlannedEndpoint
  readonly #request: FastifyRequest
  /** Duration of each call in ms, if there is a `server-timing` header. */
  readonly durations: (number | undefined)[] | undefined
  /** Values that observers returned when the calls started. */
  readonly #states: (readonly unknown[] | undefined)[] | undefined

  constructor(endpoint: PlannedEndpoint, request: FastifyRequest) {
    const { calls, hasServerTiming, instrumentation } = endpoint
    this.#endpoint = endpoint
    this.#request = request
    this.durations = hasServerTiming ? calls.map(nothing) : undefined
    this.#states = instrumentation ? calls.map(nothing) : undefined
  }

  /** Reports the start of a call, and returns its headers with those of observers. */
  started(index: number, headers: Headers): Headers {
    const { instrumentation } = this.#endpoint
    if (!instrumentation) return headers
    const all = { ...headers }
    this.#states![index] = instrumentation.observers.started(instrumentation.calls[index]!, this.#request, all)
    return all
  }

  /** Reports the start and the end of a call that was rejected before its first attempt. */
  rejected({ name }: PlannedCall, failure: CallFailure): void {
    const { instrumentation, indexOf } = this.#endpoint
    if (!instrumentation) return
    const { observers, calls } = instrumentation
    const call = calls[indexOf.get(name)!]!
    observers.ended(call, callEnd(NEVER_SENT, failure), observers.started(call, this.#request, {}))
  }

  ended(index: number, call: RunningCall, failure: CallFailure | Aborted | undefined): void {
    if (this.durations) this.durations[index] = call.elapsed()
    const { instrumentation } = this.#endpoint
    if (!instrumentation) return
    const { latest, attempts, isHedged } = call
    const origin = latest?.origin?.url
    const status = latest && latest.status !== 0 ? latest.status : undefined
    const end = callEnd({ duration: call.elapsed(), attempts, hedged: isHedged, origin, status }, failure)
    instrumentation.observers.ended(instrumentation.calls[index]!, end, this.#states![index]!)
  }
}

/** Where a call has failed, and whether the request fails with it. */
export interface LoggedFailure {
  readonly origin: string | undefined
  readonly isFatal: boolean
}

/** Logs the failure of a call. */
export function logFailure(
  { log }: FastifyRequest,
  { name, upstream, isOptional, forwardStatuses }: PlannedCall,
  failure: CallFailure,
  { origin, isFatal }: LoggedFailure,
): void {
  const { status } = failure
  const what = `${isOptional ? 'optional call' : 'call'} "${name}"`
  const isForwarded = status !== undefined && status < 500 && forwardStatuses.includes(status)
  const level = !isFatal ? 'warn' : isForwarded ? 'info' : 'error'
  upstream.failures.write(log, { what, call: name, upstream: upstream.name, origin, level }, failure)
}

function nothing(): undefined {
  return undefined
}
