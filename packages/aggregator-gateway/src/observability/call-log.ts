// Logs each call.

import type { FastifyRequest, LogLevel } from 'fastify'
import type { GatewayObserver } from '../options/observer.ts'

/** Logs a call when it ends, with the logger of its request. */
export function callLog(level: LogLevel): GatewayObserver<FastifyRequest> {
  return {
    callStarted: (_call, request) => request,
    callEnded({ name, upstream }, { origin, status, reason, cause, duration, attempts, hedged }, request) {
      // pino drops undefined fields.
      const line = { call: name, upstream, origin, status, reason, duration, attempts, hedged, err: cause }
      request.log[level](line, 'gateway call ended')
    },
  }
}
