// The connections to one origin: at most so many, each with one request at a time, and a queue for the others.

import { type buildConnector, Client, Dispatcher } from 'undici'
import { latest } from './latest.ts'

export interface ConnectionsOptions {
  /** The most of them. */
  readonly most: number
  /** Milliseconds after which one is made anew. */
  readonly timeToLive: number
  readonly maxResponseSize: number
  readonly maxHeaderSize: number
  readonly connector: buildConnector.connector
}

interface Waiting {
  readonly options: Dispatcher.DispatchOptions
  readonly handler: Dispatcher.DispatchHandler
}

/** A connection, which undici's client opens when it is needed, and again when it was closed. */
interface Connection {
  readonly client: Client
  readonly madeAt: number
}

/**
 * A pool of undici's clients. Its own Pool looks at all clients in turn for each request and again for each answer,
 * and makes an AsyncResource for each request that waits: with 64 connections and 250 calls at a time that was 23 % of
 * a gateway's CPU. Here the connection that was used last is taken, and whoever waits gets the next that is free.
 */
export class Connections extends Dispatcher {
  readonly #origin: string
  readonly #options: ConnectionsOptions
  readonly #all = new Set<Connection>()
  /** The one at the end was used last; those at the beginning close by themselves when they are idle for long. */
  readonly #idle: Connection[] = []
  readonly #waiting: Waiting[] = []

  constructor(origin: string, options: ConnectionsOptions) {
    super()
    this.#origin = origin
    this.#options = options
  }

  /** How many are open. */
  get connected(): number {
    return [...this.#all].filter(({ client }) => client.stats.connected).length
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const connection = this.#take()
    if (connection) return this.#use(connection, options, handler)
    this.#waiting.push({ options, handler })
    return false
  }

  /** A request is over. */
  release(connection: Connection): void {
    const next = this.#waiting.shift()
    if (next) this.#use(connection, next.options, next.handler)
    else this.#idle.push(connection)
  }

  override async close(): Promise<void> {
    await Promise.all([...this.#all].map(({ client }) => client.close()))
  }

  override async destroy(): Promise<void> {
    const all = [...this.#all]
    await Promise.all(all.map(({ client }) => client.destroy()))
    // What waits hears from a client that it is over.
    for (const { options, handler } of this.#waiting.splice(0)) all[0]!.client.dispatch(options, handler)
  }

  #use(connection: Connection, options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return connection.client.dispatch(options, new PooledRequest(this, connection, handler))
  }

  /** A connection that is free; nothing when all are in use. */
  #take(): Connection | undefined {
    const connection = this.#idle.pop()
    const now = performance.now()
    if (connection && now - connection.madeAt < this.#options.timeToLive) return connection
    if (connection) {
      this.#all.delete(connection)
      void connection.client.close()
    }
    if (this.#all.size >= this.#options.most) return undefined
    const { maxResponseSize, maxHeaderSize, connector } = this.#options
    const client = new Client(this.#origin, {
      pipelining: 1,
      allowH2: false,
      maxResponseSize,
      maxHeaderSize,
      // The deadline of the request ends calls: one timer, where these would be two for each call.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: connector,
    })
    const made = { client, madeAt: now }
    this.#all.add(made)
    return made
  }
}

/** A request on a connection, which is free again when that is over. */
class PooledRequest implements Dispatcher.DispatchHandler {
  readonly #connections: Connections
  readonly #connection: Connection
  readonly #handler: Dispatcher.DispatchHandler

  constructor(connections: Connections, connection: Connection, handler: Dispatcher.DispatchHandler) {
    this.#connections = connections
    this.#connection = connection
    this.#handler = handler
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2],
    statusMessage?: string,
  ): void {
    this.#handler.onResponseStart?.(controller, statusCode, headers, statusMessage)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#handler.onResponseData?.(controller, chunk)
  }

  onResponseEnd(
    controller: Dispatcher.DispatchController,
    trailers: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseEnd']>>[1],
  ): void {
    latest.exchange = this
    this.#connections.release(this.#connection)
    this.#handler.onResponseEnd?.(controller, trailers)
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    // Not at once: a client that could not connect ends the process when it is given a request while it tells of that.
    queueMicrotask(() => this.#connections.release(this.#connection))
    this.#handler.onResponseError?.(controller, error)
  }
}
