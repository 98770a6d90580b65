// A line of the log for each call.

import type { FastifyRequest, LogLevel } from 'fastify'
import type { GatewayObserver } from './observers.ts'

/** Writes it when the call is over, to the log of the request. */
export function callLog(level: LogLevel): GatewayObserver<FastifyRequest> {
  return {
    callStarted: (_call, request) => request,
    callEnded({ name, upstream }, { origin, status, reason, cause, duration, attempts, hedged }, request) {
      // What is not there is left out of the line.
      const line = { call: name, upstream, origin, status, reason, duration, attempts, hedged, err: cause }
      request.log[level](line, 'gateway call ended')
    },
  }
}
