// Logs why calls fail, because clients do not learn it. A failing origin would fill the log, so each cause is logged once in
// a while.

import type { FastifyBaseLogger } from 'fastify'
import type { CallFailure } from '../failure-reasons.ts'

/** Milliseconds between two lines of the same origin and cause. */
const LOG_INTERVAL = 10_000

/** A failed call. */
export interface FailedCall {
  /** The begin of the line: `call "profile"`. */
  readonly what: string
  readonly call: string
  readonly upstream: string
  /** Origin of the last attempt. */
  readonly origin: string | undefined
  /** `error` if the request fails with the call, as for any other error of an app. */
  readonly level: 'error' | 'warn' | 'info'
}

/** The failures of one upstream. */
export class FailureLog {
  /** By level, origin and cause: few keys. */
  readonly #logged = new Map<string, { at: number; repeated: number }>()

  write(log: FastifyBaseLogger, { what, call, upstream, origin, level }: FailedCall, failure: CallFailure): void {
    const { reason, message, status, cause } = failure
    const code = (cause as { code?: unknown } | undefined)?.code
    const key = `${level} ${origin} ${reason} ${typeof code === 'string' ? code : status}`
    const now = performance.now()
    const last = this.#logged.get(key)
    if (last && now - last.at < LOG_INTERVAL) {
      last.repeated++
      return
    }
    this.#logged.set(key, { at: now, repeated: 0 })
    const repeated = last && last.repeated > 0 ? { repeated: last.repeated } : {}
    const line = { call, upstream, origin, reason, status, err: cause, ...repeated }
    log[level](line, `${what} to ${upstream} ${message}${detailOf(cause, message)}`)
  }
}

/** The message of the error behind a failure. */
function detailOf(cause: unknown, message: string): string {
  const text = textOf(cause)
  return text === '' || message.includes(text) ? '' : `: ${text}`
}

function textOf(cause: unknown): string {
  // For a host with several addresses, Node has one error for each and no message.
  if (cause instanceof AggregateError) return [...new Set(cause.errors.map(textOf))].join(', ')
  return cause instanceof Error ? cause.message : ''
}
