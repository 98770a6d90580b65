// Copies of calls to a second upstream, such as the next version of it: what it answers is read and dropped.

import type { Dispatcher } from 'undici'
import { exchange } from '../upstream/exchange.ts'
import type { Upstream } from '../upstream/upstream.ts'

/** Where copies of a call go. */
export interface ShadowOptions {
  /** The name of the upstream. */
  upstream: string
  /** The share of calls of which there is a copy. @default 1 */
  share?: number
  /** Milliseconds that a copy may take. @default 2000 */
  timeout?: number
}

/** It keeps no connection waiting: the whole answer is read. Nobody is told how it went, but the circuit. */
const DROPPED: Dispatcher.DispatchHandler = {}

export class Shadow {
  readonly #upstream: Upstream
  readonly #share: number
  readonly #timeout: number

  constructor(upstream: Upstream, { share = 1, timeout = 2000 }: ShadowOptions) {
    this.#upstream = upstream
    this.#share = share
    this.#timeout = timeout
  }

  /** Sends it, unless the upstream has enough to do or fails: then there is one copy less. */
  copy(options: Dispatcher.DispatchOptions): void {
    if (Math.random() < this.#share) exchange(this.#upstream, options, DROPPED, { timeout: this.#timeout })
  }
}
