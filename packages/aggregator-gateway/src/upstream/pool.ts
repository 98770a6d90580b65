// The connections to one origin: a limited number, each with one request at a time, and a queue for other requests.

import { AsyncLocalStorage } from 'node:async_hooks'
import { type buildConnector, Client, type Dispatcher, errors } from 'undici'
import { InterimFilter } from './interim-filter.ts'
import { retainClassOf } from './retained-controller.ts'
import { AbortedError } from '../failure-reasons.ts'

export interface PoolOptions {
  /** Maximum connections, without those of streams. */
  readonly maxConnections: number
  /** Maximum streams, each with a connection of its own. */
  readonly maxStreams: number
  /** Milliseconds after which a connection is replaced. */
  readonly timeToLive: number
  readonly maxResponseBytes: number
  readonly maxHeaderSize: number
  readonly connector: buildConnector.connector
}

/** Options of a request. */
export interface SendOptions {
  /** On a new connection: the last attempt hit a keep-alive connection that was being closed. */
  readonly isFresh?: boolean
  /** A stream from the start. The caller has checked that there is room for it. */
  readonly isStream?: boolean
  /** Maximum bytes of the response body; -1 for any number. @default the upstream's maxResponseBytes */
  readonly maxBytes?: number | undefined
}

const DEFAULTS: SendOptions = {}

/** A connection. undici's client opens it on demand, and reopens it after it was closed. */
interface Connection {
  readonly client: Client
  readonly madeAt: number
  /** Whether its current socket has carried a whole response. */
  hasServed: boolean
  filter: InterimFilter | undefined
}

/**
 * A pool of undici's clients. It takes the connection used last; a waiting request gets the next free one. undici's own
 * Pool checks all clients for each request and response, which took 23 % of a busy gateway's CPU. See
 * docs/measurements.md#connection-pool
 */
export class ConnectionPool {
  readonly #origin: string
  readonly #options: PoolOptions
  readonly #all = new Set<Connection>()
  /** The last one was used most recently. Those at the start close by themselves after a long idle time. */
  readonly #idle: Connection[] = []
  readonly #waiting: PooledRequest[] = []
  /** A socket keeps the async context that it was made in, which must not be a request's. */
  readonly #inAppContext = AsyncLocalStorage.snapshot()
  #streams = 0

  constructor(origin: string, options: PoolOptions) {
    this.#origin = origin
    this.#options = options
  }

  /** Number of open connections. */
  get connected(): number {
    return [...this.#all].filter(({ client }) => client.stats.connected).length
  }

  /** Number of streams. */
  get streams(): number {
    return this.#streams
  }

  get hasRoomForStream(): boolean {
    return this.#streams < this.#options.maxStreams
  }

  dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    { isFresh = false, isStream = false, maxBytes = this.#options.maxResponseBytes }: SendOptions = DEFAULTS,
  ): PooledRequest {
    const request = new PooledRequest(this, options, handler, maxBytes)
    if (isStream) {
      this.#streams++
      request.isStream = true
    }
    const connection = this.#take(isFresh)
    if (connection) request.start(connection)
    else {
      request.queuedSince(performance.now())
      this.#waiting.push(request)
    }
    return request
  }

  /** Removes a request that needs no connection any more. */
  remove(request: PooledRequest): void {
    this.#waiting.splice(this.#waiting.indexOf(request), 1)
    if (request.isStream) this.#streams--
  }

  /** Counts the connection of a request as a stream's from now on: another call may have its place. */
  countAsStream(): void {
    this.#streams++
    const connection = this.#waiting.length > 0 ? this.#take(false) : undefined
    if (connection) this.#waiting.shift()!.start(connection)
  }

  /** Ends a request, and reuses its connection. */
  release(connection: Connection, isStream: boolean): void {
    if (isStream) this.#streams--
    if (this.#all.size - this.#streams > this.#options.maxConnections) return this.#discard(connection)
    const next = this.#waiting.shift()
    if (next) next.start(connection)
    else this.#idle.push(connection)
  }

  async destroy(): Promise<void> {
    const all = [...this.#all]
    await Promise.all(all.map(({ client }) => client.destroy()))
    // Waiting requests get the error of a destroyed client.
    for (const request of this.#waiting.splice(0)) request.start(all[0]!)
  }

  /** Returns a free connection, or undefined if all are in use. */
  #take(isFresh: boolean): Connection | undefined {
    const connection = this.#idle.pop()
    const now = performance.now()
    if (connection && !isFresh && now - connection.madeAt < this.#options.timeToLive) return connection
    if (connection) this.#discard(connection)
    return this.#all.size - this.#streams >= this.#options.maxConnections ? undefined : this.#make(now)
  }

  #discard(connection: Connection): void {
    this.#all.delete(connection)
    // All are already destroyed when the gateway closes.
    if (!connection.client.destroyed) void connection.client.close()
  }

  #make(madeAt: number): Connection {
    const { maxHeaderSize, connector } = this.#options
    const made: Connection = {
      client: new Client(this.#origin, {
        pipelining: 1,
        allowH2: false,
        maxHeaderSize,
        // The deadline of the request ends calls with one timer. These would be two for each call.
        headersTimeout: 0,
        bodyTimeout: 0,
        connect: (target, done) => {
          this.#inAppContext(connector, target, (...result: Parameters<typeof done>) => {
            const [, socket] = result
            made.hasServed = false
            made.filter = socket ? new InterimFilter(socket) : undefined
            done(...result)
          })
        },
      }),
      madeAt,
      hasServed: false,
      filter: undefined,
    }
    this.#all.add(made)
    return made
  }
}

/** A request that waits for a connection or uses one, and frees it at the end. */
export class PooledRequest implements Dispatcher.DispatchHandler {
  readonly #pool: ConnectionPool
  readonly #maxBytes: number
  #options: Dispatcher.DispatchOptions | undefined
  /** Undefined if the request was cancelled. */
  #handler: Dispatcher.DispatchHandler | undefined
  #connection: Connection | undefined
  /** Its connection has carried another response before. */
  #isReused = false
  #size = 0
  /** Times of `performance.now()`, if it had to wait. */
  #queuedAt = Number.NaN
  #startedAt = Number.NaN
  isStream = false

  constructor(
    pool: ConnectionPool,
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    maxBytes: number,
  ) {
    this.#pool = pool
    this.#options = options
    this.#handler = handler
    this.#maxBytes = maxBytes
  }

  /** Whether the server may have closed the connection before it saw this request (RFC 9112, 9.3.1). */
  get isReused(): boolean {
    return this.#isReused && !this.#connection!.filter!.hasInterim
  }

  /** Whether a late response is the origin's fault: not if the request spent most of its time in the queue. */
  get hadFairTime(): boolean {
    if (!this.#connection) return false
    return Number.isNaN(this.#queuedAt) || performance.now() - this.#startedAt >= this.#startedAt - this.#queuedAt
  }

  queuedSince(time: number): void {
    this.#queuedAt = time
  }

  start(connection: Connection): void {
    this.#connection = connection
    if (!Number.isNaN(this.#queuedAt)) this.#startedAt = performance.now()
    const options = this.#options!
    this.#options = undefined
    connection.client.dispatch(options, this)
  }

  /** Cancels it before it has begun, without calling its handler. */
  cancel(): void {
    this.#handler = undefined
    this.#options = undefined
    if (!this.#connection) this.#pool.remove(this)
  }

  /** Frees its place among the connections. Returns false if the maximum of streams is reached. */
  becomeStream(): boolean {
    if (this.isStream) return true
    if (!this.#pool.hasRoomForStream) return false
    this.isStream = true
    this.#pool.countAsStream()
    return true
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    // An error ends only the request; `abort` would end the connection, too.
    if (!this.#handler) throw new AbortedError(false)
    retainClassOf(controller)
    this.#isReused = this.#connection!.hasServed
    this.#connection!.filter?.expectResponse()
    this.#handler.onRequestStart?.(controller, context)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2],
    statusMessage?: string,
  ): void {
    this.#handler?.onResponseStart?.(controller, statusCode, headers, statusMessage)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#maxBytes >= 0) {
      this.#size += chunk.length
      if (this.#size > this.#maxBytes) return controller.abort(new errors.ResponseExceededMaxSizeError())
    }
    this.#handler?.onResponseData?.(controller, chunk)
  }

  onResponseEnd(
    controller: Dispatcher.DispatchController,
    trailers: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseEnd']>>[1],
  ): void {
    this.#connection!.hasServed = true
    this.#pool.release(this.#connection!, this.isStream)
    this.#handler?.onResponseEnd?.(controller, trailers)
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    // Deferred: a client that could not connect ends the process if it gets a request while it reports that.
    queueMicrotask(() => this.#pool.release(this.#connection!, this.isStream))
    this.#handler?.onResponseError?.(controller, error)
  }
}
