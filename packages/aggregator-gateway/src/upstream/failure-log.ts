// Says in the log why calls fail, which clients are not told: one line for each origin and cause from time to time, as an
// origin that fails all calls would fill the log.

import type { FastifyBaseLogger } from 'fastify'
import type { CallFailure } from '../call/outcome.ts'

/** Milliseconds in which a failure is logged once. */
const EVERY = 10_000

/** A call that has failed. */
export interface FailedCall {
  /** What has failed, to begin the line with: `call "profile"`. */
  readonly what: string
  readonly call: string
  readonly upstream: string
  /** Where it was sent last. */
  readonly origin: string | undefined
}

/** The failures of one upstream. */
export class FailureLog {
  /** By origin and cause, of which there are few. */
  readonly #logged = new Map<string, { at: number; repeated: number }>()

  warn(log: FastifyBaseLogger, { what, call, upstream, origin }: FailedCall, failure: CallFailure): void {
    const { reason, message, status, cause } = failure
    const code = (cause as { code?: unknown } | undefined)?.code
    const key = `${origin} ${reason} ${typeof code === 'string' ? code : status}`
    const now = performance.now()
    const last = this.#logged.get(key)
    if (last && now - last.at < EVERY) {
      last.repeated++
      return
    }
    this.#logged.set(key, { at: now, repeated: 0 })
    const repeated = last && last.repeated > 0 ? { repeated: last.repeated } : {}
    const line = { call, upstream, origin, reason, status, err: cause, ...repeated }
    log.warn(line, `${what} to ${upstream} ${message}${detailOf(cause, message)}`)
  }
}

/** What the error behind a failure says. */
function detailOf(cause: unknown, message: string): string {
  const text = textOf(cause)
  return text === '' || message.includes(text) ? '' : `: ${text}`
}

function textOf(cause: unknown): string {
  // Of a host with several addresses, Node gives an error for each, and no message.
  if (cause instanceof AggregateError) return [...new Set(cause.errors.map(textOf))].join(', ')
  return cause instanceof Error ? cause.message : ''
}
