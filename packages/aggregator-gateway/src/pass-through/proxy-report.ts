import type { FastifyRequest } from 'fastify'
import type { Aborted, CallFailure } from '../failure-reasons.ts'
import { callEnd } from '../observability/call-end.ts'
import type { Instrumentation } from '../observability/observers.ts'
import type { Headers } from '../request/request-headers.ts'

/** Reports a proxied request to observers, once. */
export class ProxyReport {
  readonly #instrumentation: Instrumentation | undefined
  readonly #request: FastifyRequest
  readonly #startedAt = performance.now()
  /** Values that observers returned at the start. Undefined before it, and after the end. */
  #states: readonly unknown[] | undefined
  /** The status of the upstream's response. */
  status: number | undefined

  constructor({ instrumentation }: { instrumentation: Instrumentation | undefined }, request: FastifyRequest) {
    this.#instrumentation = instrumentation
    this.#request = request
  }

  /** Headers that observers add to the request. */
  callHeaders(): Headers | undefined {
    return this.#instrumentation?.observers.callHeaders(this.#instrumentation.calls[0]!, this.#request)
  }

  /** Reports the start, and adds trace headers to these headers. */
  started(headers: Record<string, string>): void {
    this.#states = this.#instrumentation?.observers.started(this.#instrumentation.calls[0]!, this.#request, headers)
  }

  ended(attempts: number, origin: string | undefined, failure: CallFailure | Aborted | undefined): void {
    if (!this.#instrumentation || !this.#states) return
    const { observers, calls } = this.#instrumentation
    const states = this.#states
    this.#states = undefined
    const duration = performance.now() - this.#startedAt
    observers.ended(
      calls[0]!,
      callEnd({ duration, attempts, hedged: false, origin, status: this.status }, failure),
      states,
    )
  }
}
