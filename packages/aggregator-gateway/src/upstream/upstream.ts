// An upstream: chooses the origin of each request, and limits how many requests there are.

import { buildConnector, type Dispatcher } from 'undici'
import type { Rejection } from '../failure-reasons.ts'
import type { OriginStatus } from '../options/observer.ts'
import type { ResolvedUpstream } from '../options/resolved.ts'
import { AttemptBudget } from './attempt-budget.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import type { ExchangeOptions, OriginSource } from './exchange.ts'
import { FailureLog } from './failure-log.ts'
import { Origin, type Slot } from './origin.ts'
import { ConnectionPool } from './pool.ts'

/** Maximum bytes of the headers of a response. */
const MAX_HEADER_SIZE = 16_384

/** The response cache of an upstream. */
export interface UpstreamCache {
  dispatch: (request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler, options: ExchangeOptions) => void
  /** Drops the cached responses of that path. */
  forget: (request: Dispatcher.DispatchOptions) => void
}

export class Upstream implements OriginSource {
  readonly name: string
  readonly maxResponseBytes: number
  readonly retryBudget: AttemptBudget
  readonly hedgeBudget: AttemptBudget
  readonly failures: FailureLog = new FailureLog()
  cache: UpstreamCache | undefined
  readonly #origins: readonly Origin[]
  readonly #maxPending: number
  #next = 0

  constructor(name: string, options: ResolvedUpstream) {
    const { origin, maxConnections, maxQueue, maxResponseBytes, circuitBreaker } = options
    this.name = name
    this.maxResponseBytes = maxResponseBytes
    this.retryBudget = new AttemptBudget(options.retryBudget)
    this.hedgeBudget = new AttemptBudget(options.hedgeBudget)
    this.#maxPending = maxConnections + maxQueue
    this.#origins = [origin].flat().map((url) => {
      return new Origin(url, poolOf(url, options), circuitBreaker ? new CircuitBreaker(circuitBreaker) : undefined)
    })
  }

  /** Number of origins. */
  get size(): number {
    return this.#origins.length
  }

  /** Maximum number of simultaneous calls, queued ones included. */
  get capacity(): number {
    return this.#maxPending * this.#origins.length
  }

  /** The base of cache keys, which all origins share. */
  get url(): string {
    return new URL(this.#origins[0]!.url).origin
  }

  /** Returns why this number of calls is rejected now, or undefined if it is admitted. */
  admission(calls: number): 'overloaded' | 'circuit-open' | undefined {
    let free = 0
    let isOpen = true
    for (const { pending, circuit } of this.#origins) {
      if (circuit && !circuit.allows()) continue
      isOpen = false
      free += this.#maxPending - pending
    }
    return isOpen ? 'circuit-open' : free < calls ? 'overloaded' : undefined
  }

  /** Returns the origin with the fewest calls, other than `avoid` if possible, or why there is none. */
  choose(avoid: Origin | undefined, skipAdmission: boolean, slot: Slot = 'call'): Origin | Rejection {
    const origins = this.#origins
    // Only first attempts advance: if retries did too, two origins would alternate in lockstep.
    const start = origins.length === 1 ? 0 : (avoid ? this.#next : this.#next++) % origins.length
    let best: Origin | undefined
    let leastLoad = Number.POSITIVE_INFINITY
    let last: Origin | undefined
    let rejection: Rejection = 'circuit-open'
    for (let step = 0; step < origins.length; step++) {
      const origin = origins[(start + step) % origins.length]!
      if (origin.circuit && !origin.circuit.allows()) continue
      const full = skipAdmission ? undefined : this.#rejectionBy(origin, slot)
      if (full) {
        rejection = full
        continue
      }
      const load = slot === 'call' ? origin.pending : origin.pending + origin.pool.streams
      if (origin === avoid) last = origin
      else if (load < leastLoad) {
        best = origin
        leastLoad = load
      }
    }
    return best ?? last ?? rejection
  }

  #rejectionBy({ pending, pool }: Origin, slot: Slot): Rejection | undefined {
    if (slot !== 'call' && !pool.hasRoomForStream) return 'too-many-streams'
    return slot !== 'stream' && pending >= this.#maxPending ? 'overloaded' : undefined
  }

  status(): OriginStatus[] {
    return this.#origins.map(({ url, pool, circuit, pending }) => ({
      origin: url,
      circuit: circuit ? (circuit.isOpen ? 'open' : 'closed') : 'off',
      pending,
      streams: pool.streams,
      connected: pool.connected,
    }))
  }

  async close(): Promise<void> {
    await Promise.all(this.#origins.map(({ pool }) => pool.destroy()))
  }
}

function poolOf(url: string, options: ResolvedUpstream): ConnectionPool {
  const { maxConnections, maxStreams, maxResponseBytes, connectTimeout, connectionTtl, lookup, tls } = options
  return new ConnectionPool(url, {
    maxConnections,
    maxStreams,
    timeToLive: connectionTtl,
    maxResponseBytes,
    maxHeaderSize: MAX_HEADER_SIZE,
    // HTTP/2 was slower. With pipelining, a hanging response would block those behind it.
    connector: buildConnector({ ...tls, ...(lookup && { lookup }), timeout: connectTimeout, allowH2: false }),
  })
}
