// The connections to one origin: at most so many, each with one request at a time, and a queue for the others.

import { AsyncLocalStorage } from 'node:async_hooks'
import { type buildConnector, Client, type Dispatcher, errors } from 'undici'
import { InterimFilter } from './interim-filter.ts'
import { keepClassOf } from './kept-controller.ts'
import { GivenUpError } from './outcome.ts'

export interface ConnectionsOptions {
  /** The most of them, without those of streams. */
  readonly most: number
  /** The most streams, each with a connection of its own. */
  readonly mostStreams: number
  /** Milliseconds after which one is made anew. */
  readonly timeToLive: number
  readonly maxResponseSize: number
  readonly maxHeaderSize: number
  readonly connector: buildConnector.connector
}

/** How a request is sent. */
export interface DispatchHow {
  /** On a new connection: the last attempt met a kept-alive one that was being closed. */
  readonly isFresh?: boolean
  /** It is a stream from the start, which the caller has found room for. */
  readonly isStream?: boolean
  /** Maximum bytes of the response body; -1 for any number. @default the upstream's maxResponseSize */
  readonly mostBytes?: number | undefined
}

const AS_USUAL: DispatchHow = {}

/** A connection, which undici's client opens when it is needed, and again when it was closed. */
interface Connection {
  readonly client: Client
  readonly madeAt: number
  /** Whether its current socket has carried a whole response. */
  hasServed: boolean
  filter: InterimFilter | undefined
}

/**
 * A pool of undici's clients. Its own Pool looks at all clients in turn for each request and again for each answer,
 * and makes an AsyncResource for each request that waits: with 64 connections and 250 calls at a time that was 23 % of
 * a gateway's CPU. Here the connection that was used last is taken, and whoever waits gets the next that is free.
 */
export class Connections {
  readonly #origin: string
  readonly #options: ConnectionsOptions
  readonly #all = new Set<Connection>()
  /** The one at the end was used last; those at the beginning close by themselves when they are idle for long. */
  readonly #idle: Connection[] = []
  readonly #waiting: PooledRequest[] = []
  /** A socket keeps the async context that it was made in: none of a request. */
  readonly #inContextOfApp = AsyncLocalStorage.snapshot()
  #streams = 0

  constructor(origin: string, options: ConnectionsOptions) {
    this.#origin = origin
    this.#options = options
  }

  /** How many are open. */
  get connected(): number {
    return [...this.#all].filter(({ client }) => client.stats.connected).length
  }

  /** How many streams there are. */
  get streams(): number {
    return this.#streams
  }

  get hasRoomForStream(): boolean {
    return this.#streams < this.#options.mostStreams
  }

  dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    how: DispatchHow = AS_USUAL,
  ): PooledRequest {
    const { isFresh = false, isStream = false, mostBytes = this.#options.maxResponseSize } = how
    const request = new PooledRequest(this, options, handler, mostBytes)
    if (isStream) {
      this.#streams++
      request.isStream = true
    }
    const connection = this.#take(isFresh)
    if (connection) request.start(connection)
    else {
      request.waitsSince(performance.now())
      this.#waiting.push(request)
    }
    return request
  }

  /** The request needs no connection any more. */
  remove(request: PooledRequest): void {
    this.#waiting.splice(this.#waiting.indexOf(request), 1)
    if (request.isStream) this.#streams--
  }

  /** The connection of a request that has one counts as a stream's from now on: another call may have its place. */
  countAsStream(): void {
    this.#streams++
    const connection = this.#waiting.length > 0 ? this.#take(false) : undefined
    if (connection) this.#waiting.shift()!.start(connection)
  }

  /** A request is over. */
  release(connection: Connection, isStream: boolean): void {
    if (isStream) this.#streams--
    if (this.#all.size - this.#streams > this.#options.most) return this.#discard(connection)
    const next = this.#waiting.shift()
    if (next) next.start(connection)
    else this.#idle.push(connection)
  }

  async destroy(): Promise<void> {
    const all = [...this.#all]
    await Promise.all(all.map(({ client }) => client.destroy()))
    // What waits hears from a client that it is over.
    for (const request of this.#waiting.splice(0)) request.start(all[0]!)
  }

  /** A connection that is free; nothing when all are in use. */
  #take(isFresh: boolean): Connection | undefined {
    const connection = this.#idle.pop()
    const now = performance.now()
    if (connection && !isFresh && now - connection.madeAt < this.#options.timeToLive) return connection
    if (connection) this.#discard(connection)
    return this.#all.size - this.#streams >= this.#options.most ? undefined : this.#make(now)
  }

  #discard(connection: Connection): void {
    this.#all.delete(connection)
    // When the gateway closes, all are destroyed.
    if (!connection.client.destroyed) void connection.client.close()
  }

  #make(madeAt: number): Connection {
    const { maxHeaderSize, connector } = this.#options
    const made: Connection = {
      client: new Client(this.#origin, {
        pipelining: 1,
        allowH2: false,
        maxHeaderSize,
        // The deadline of the request ends calls: one timer, where these would be two for each call.
        headersTimeout: 0,
        bodyTimeout: 0,
        connect: (target, done) => {
          this.#inContextOfApp(connector, target, (...result: Parameters<typeof done>) => {
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

/** A request that waits for a connection or is on one, which is free again when that is over. */
export class PooledRequest implements Dispatcher.DispatchHandler {
  readonly #connections: Connections
  readonly #mostBytes: number
  #options: Dispatcher.DispatchOptions | undefined
  /** Nothing when it was given up. */
  #handler: Dispatcher.DispatchHandler | undefined
  #connection: Connection | undefined
  /** Its connection has carried another response before. */
  #isReused = false
  #size = 0
  /** Times of `performance.now()`, where it had to wait. */
  #queuedAt = Number.NaN
  #startedAt = Number.NaN
  isStream = false

  constructor(
    connections: Connections,
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    mostBytes: number,
  ) {
    this.#connections = connections
    this.#options = options
    this.#handler = handler
    this.#mostBytes = mostBytes
  }

  /** Whether the server may have closed the connection before it saw this request (RFC 9112, 9.3.1). */
  get isReused(): boolean {
    return this.#isReused && !this.#connection!.filter!.hasInterim
  }

  /** Whether the origin is to blame when it is late: not for a request that spent most of its time in the queue. */
  get hadItsTime(): boolean {
    if (!this.#connection) return false
    return Number.isNaN(this.#queuedAt) || performance.now() - this.#startedAt >= this.#startedAt - this.#queuedAt
  }

  waitsSince(time: number): void {
    this.#queuedAt = time
  }

  start(connection: Connection): void {
    this.#connection = connection
    if (!Number.isNaN(this.#queuedAt)) this.#startedAt = performance.now()
    const options = this.#options!
    this.#options = undefined
    connection.client.dispatch(options, this)
  }

  /** Gives it up before it has begun. Its handler is told nothing. */
  cancel(): void {
    this.#handler = undefined
    this.#options = undefined
    if (!this.#connection) this.#connections.remove(this)
  }

  /** Gives its place among the connections to another; false when there are as many streams as there may be. */
  becomeStream(): boolean {
    if (this.isStream) return true
    if (!this.#connections.hasRoomForStream) return false
    this.isStream = true
    this.#connections.countAsStream()
    return true
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    // An error ends the request alone; `abort` would end the connection, too.
    if (!this.#handler) throw new GivenUpError(false)
    keepClassOf(controller)
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
    if (this.#mostBytes >= 0) {
      this.#size += chunk.length
      if (this.#size > this.#mostBytes) return controller.abort(new errors.ResponseExceededMaxSizeError())
    }
    this.#handler?.onResponseData?.(controller, chunk)
  }

  onResponseEnd(
    controller: Dispatcher.DispatchController,
    trailers: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseEnd']>>[1],
  ): void {
    this.#connection!.hasServed = true
    this.#connections.release(this.#connection!, this.isStream)
    this.#handler?.onResponseEnd?.(controller, trailers)
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    // Not at once: a client that could not connect ends the process when it is given a request while it tells of that.
    queueMicrotask(() => this.#connections.release(this.#connection!, this.isStream))
    this.#handler?.onResponseError?.(controller, error)
  }
}
