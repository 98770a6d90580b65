import type { CircuitBreaker } from './circuit-breaker.ts'
import type { ConnectionPool } from './pool.ts'

/** Which limit is checked for a request: that of calls, of streams, or both (a call that may become a stream). */
export type Slot = 'call' | 'call-then-stream' | 'stream'

/** One server of an upstream. */
export class Origin {
  readonly url: string
  readonly pool: ConnectionPool
  readonly circuit: CircuitBreaker | undefined
  /** Running and queued calls. */
  pending = 0

  constructor(url: string, pool: ConnectionPool, circuit: CircuitBreaker | undefined) {
    this.url = url
    this.pool = pool
    this.circuit = circuit
  }
}
