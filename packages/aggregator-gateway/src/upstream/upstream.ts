// The servers that calls go to: for each origin its connections and a circuit.

import type { LookupFunction } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { buildConnector } from 'undici'
import { Budget } from '../call/retry-budget.ts'
import type { CacheOptions, ResponseCache } from '../cache/response-cache.ts'
import { type BreakerOptions, Circuit } from './circuit-breaker.ts'
import { Connections } from './pool.ts'
import { FailureLog } from './failure-log.ts'

/** An upstream: one server, or several that give the same answers. */
export interface UpstreamOptions {
  /** Where it is, such as `http://orders:3000`; of several origins, the one with the fewest calls of those that work is taken. */
  origin: string | readonly string[]
  /** The most connections to an origin. @default 64 */
  connections?: number
  /** The most calls that wait for a connection to an origin; those beyond fail at once. @default 256 */
  queue?: number
  /** Maximum pass-through bodies in transfer with an origin, beside `connections`; requests beyond are rejected with 503. @default 1024 */
  maxStreams?: number
  /** Milliseconds that connecting may take. @default 1000 */
  connectTimeout?: number
  /** Milliseconds after which a connection is made anew, which follows changes of the DNS. @default 30000 */
  connectionTtl?: number
  /** How names of hosts are looked up. @default that of Node */
  lookup?: LookupFunction
  /** For `https:`, what Node's TLS takes: `ca`, `cert`, `key`, `servername` and so on. @default {} */
  tls?: Omit<ConnectionOptions, 'host' | 'port' | 'path' | 'socket' | 'lookup' | 'timeout'>
  /** Maximum bytes of a call's response, as received and decompressed. @default 1048576 */
  maxResponseSize?: number
  /** When an origin that fails is not called any more; `false` for never. @default see below */
  breaker?: false | BreakerOptions
  /** How many retries there may be for each call, on average. @default 0.1 */
  retryBudget?: number
  /** How many hedges there may be for each call, on average. @default 0.02 */
  hedgeBudget?: number
  /** Whether answers to GET are kept for as long as their `cache-control` allows; or options. @default false */
  cache?: boolean | CacheOptions
}

/** What is known of an origin. */
export interface OriginStatus {
  origin: string
  /** Whether calls are stopped, as too many have failed. */
  circuit: 'closed' | 'open' | 'off'
  /** Calls that are not over, those that wait for a connection among them. */
  pending: number
  /** Pass-through bodies in transfer. */
  streams: number
  /** Connections that are open. */
  connected: number
}

/** One server. */
export class Origin {
  readonly url: string
  readonly connections: Connections
  readonly circuit: Circuit | undefined
  /** Calls that are not over. */
  pending = 0

  constructor(url: string, connections: Connections, circuit: Circuit | undefined) {
    this.url = url
    this.connections = connections
    this.circuit = circuit
  }
}

/** The most bytes of an answer's headers; 10,000 headers are no answer. */
const MAX_HEADER_SIZE = 16_384

/** What a request needs room for: a call's place, also for a body that follows it, or that of a stream alone. */
export type Room = 'call' | 'call-then-stream' | 'stream'

/** Why a request has no origin to go to. */
export type Refusal = 'overloaded' | 'too-many-streams' | 'circuit-open'

export class Upstream {
  readonly name: string
  readonly maxResponseSize: number
  readonly retryBudget: Budget
  readonly hedgeBudget: Budget
  readonly failures: FailureLog = new FailureLog()
  /** Keeps its answers, where it is to. */
  cache: ResponseCache | undefined
  readonly #origins: readonly Origin[]
  readonly #mostPending: number
  #next = 0

  constructor(name: string, options: UpstreamOptions) {
    const { origin, connections = 64, queue = 256, maxResponseSize = 1_048_576, breaker = {} } = options
    const { retryBudget = 0.1, hedgeBudget = 0.02 } = options
    this.name = name
    this.maxResponseSize = maxResponseSize
    this.retryBudget = new Budget(retryBudget)
    this.hedgeBudget = new Budget(hedgeBudget)
    this.#mostPending = connections + queue
    this.#origins = [origin]
      .flat()
      .map((url) => new Origin(url, connectionsOf(url, options), breaker === false ? undefined : new Circuit(breaker)))
  }

  /** How many origins it has. */
  get size(): number {
    return this.#origins.length
  }

  /** How many calls there may be at a time. */
  get capacity(): number {
    return this.#mostPending * this.#origins.length
  }

  /** Why so many calls cannot be made now; nothing when they can. */
  refusal(calls: number): 'overloaded' | 'circuit-open' | undefined {
    let room = 0
    let isOpen = true
    for (const { pending, circuit } of this.#origins) {
      if (circuit && !circuit.allows()) continue
      isOpen = false
      room += this.#mostPending - pending
    }
    return isOpen ? 'circuit-open' : room < calls ? 'overloaded' : undefined
  }

  /** The origin that a request goes to, another than `avoid` if there is one; or why there is none. */
  choose(avoid: Origin | undefined, isAccepted: boolean, room: Room = 'call'): Origin | Refusal {
    const origins = this.#origins
    // Only first attempts move on: with retries too, two origins would take turns in being first for good.
    const start = origins.length === 1 ? 0 : (avoid ? this.#next : this.#next++) % origins.length
    let best: Origin | undefined
    let leastLoad = Number.POSITIVE_INFINITY
    let last: Origin | undefined
    let refusal: Refusal = 'circuit-open'
    for (let step = 0; step < origins.length; step++) {
      const origin = origins[(start + step) % origins.length]!
      if (origin.circuit && !origin.circuit.allows()) continue
      const full = isAccepted ? undefined : this.#fullFor(origin, room)
      if (full) {
        refusal = full
        continue
      }
      const load = room === 'call' ? origin.pending : origin.pending + origin.connections.streams
      if (origin === avoid) last = origin
      else if (load < leastLoad) {
        best = origin
        leastLoad = load
      }
    }
    return best ?? last ?? refusal
  }

  #fullFor({ pending, connections }: Origin, room: Room): Refusal | undefined {
    if (room !== 'call' && !connections.hasRoomForStream) return 'too-many-streams'
    return room !== 'stream' && pending >= this.#mostPending ? 'overloaded' : undefined
  }

  /** What its answers are kept by, whichever of its origins they are of. */
  get url(): string {
    return new URL(this.#origins[0]!.url).origin
  }

  status(): OriginStatus[] {
    return this.#origins.map(({ url, connections, circuit, pending }) => ({
      origin: url,
      circuit: circuit ? (circuit.isOpen ? 'open' : 'closed') : 'off',
      pending,
      streams: connections.streams,
      connected: connections.connected,
    }))
  }

  async close(): Promise<void> {
    await Promise.all(this.#origins.map(({ connections }) => connections.destroy()))
  }
}

function connectionsOf(url: string, options: UpstreamOptions): Connections {
  const { connections = 64, maxStreams = 1024, connectTimeout = 1000, connectionTtl = 30_000 } = options
  const { maxResponseSize = 1_048_576, lookup, tls } = options
  return new Connections(url, {
    most: connections,
    mostStreams: maxStreams,
    timeToLive: connectionTtl,
    maxResponseSize,
    maxHeaderSize: MAX_HEADER_SIZE,
    // HTTP/2 was slower, and so was pipelining, with which an answer that hangs would hold up those behind it.
    connector: buildConnector({ ...tls, ...(lookup && { lookup }), timeout: connectTimeout, allowH2: false }),
  })
}
