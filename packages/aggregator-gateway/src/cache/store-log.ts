// Logs that the cache store of an upstream fails. No request fails by it, so that nobody would notice.

import type { FastifyBaseLogger } from 'fastify'

/** Milliseconds between two lines of one store. */
const LOG_INTERVAL = 10_000

/** The failures of one store. */
export class StoreLog {
  readonly #log: Pick<FastifyBaseLogger, 'warn'>
  readonly #upstream: string
  #loggedAt = -Infinity

  constructor(log: Pick<FastifyBaseLogger, 'warn'>, upstream: string) {
    this.#log = log
    this.#upstream = upstream
  }

  write(operation: 'get' | 'set' | 'delete', cause: unknown): void {
    const now = performance.now()
    if (now - this.#loggedAt < LOG_INTERVAL) return
    this.#loggedAt = now
    const err = cause instanceof Error ? cause : new Error(String(cause))
    const text = `the cache store of upstream "${this.#upstream}" failed to ${operation} a response: ${err.message}`
    this.#log.warn({ upstream: this.#upstream, operation, err }, text)
  }
}
