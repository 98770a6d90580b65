// Copies of calls to a second upstream, such as its next version. Their responses are discarded.

import type { Dispatcher } from 'undici'
import type { ResolvedShadow } from '../options/resolved.ts'
import { exchange } from '../upstream/exchange.ts'
import type { Upstream } from '../upstream/upstream.ts'

/** Reads the whole response, so that the connection can be reused. Only the circuit breaker sees the outcome. */
const DISCARD: Dispatcher.DispatchHandler = {}

export class Shadow {
  readonly #upstream: Upstream
  readonly #share: number
  readonly #timeout: number

  constructor(upstream: Upstream, { share, timeout }: ResolvedShadow) {
    this.#upstream = upstream
    this.#share = share
    this.#timeout = timeout
  }

  /** Sends a copy, unless the upstream is overloaded or its circuit is open. */
  copy(request: Dispatcher.DispatchOptions): void {
    if (Math.random() < this.#share) exchange(this.#upstream, request, DISCARD, { timeout: this.#timeout })
  }
}
