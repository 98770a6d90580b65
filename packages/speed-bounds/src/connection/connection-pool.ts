import type { Cancel, Connect, Connection, OnEnd } from './connection.ts'

/** Sent requests that stay at the head of the queue: removing each of them would move all others. */
const MAX_SENT = 1024

interface Waiting {
  readonly onEnd: OnEnd
  isCanceled: boolean
  cancel: Cancel
}

/**
 * Connections that are opened when they are needed, up to a limit. A request that finds none free waits. The connection
 * that became free last is used first, so that a low rate needs few.
 */
export class ConnectionPool {
  readonly #connect: Connect
  readonly #limit: number
  readonly #keepAlive: boolean
  readonly #connections = new Set<Connection>()
  /** Connections that could take a request when they were added. */
  readonly #available: Connection[] = []
  readonly #waiting: Waiting[] = []
  /** Waiting requests before this one have been sent. */
  #next = 0
  #peak = 0

  constructor(connect: Connect, { limit, keepAlive }: { readonly limit: number; readonly keepAlive: boolean }) {
    this.#connect = connect
    this.#limit = limit
    this.#keepAlive = keepAlive
  }

  /** Sends a request, now or when a connection becomes free. */
  readonly send = (onEnd: OnEnd): Cancel => {
    const connection = this.#take()
    if (connection) return this.#sendOver(connection, onEnd)
    const waiting: Waiting = { onEnd, isCanceled: false, cancel: () => (waiting.isCanceled = true) }
    this.#waiting.push(waiting)
    return () => waiting.cancel()
  }

  /** Maximum number of connections since the last call. */
  readPeak(): number {
    const peak = this.#peak
    this.#peak = this.#connections.size
    return peak
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
    this.#connections.clear()
    this.#available.length = 0
  }

  /** A connection with room, a new one, or none. */
  #take(): Connection | undefined {
    for (let last = this.#available.at(-1); last; last = this.#available.at(-1)) {
      if (last.free > 1) return last
      this.#available.pop()
      if (last.free === 1) return last
      this.#connections.delete(last)
    }
    if (this.#connections.size >= this.#limit) return undefined
    const connection = this.#connect()
    this.#connections.add(connection)
    this.#peak = Math.max(this.#peak, this.#connections.size)
    if (this.#keepAlive && connection.free > 1) this.#available.push(connection)
    return connection
  }

  #sendOver(connection: Connection, onEnd: OnEnd): Cancel {
    const cancel = connection.send((outcome) => {
      this.#release(connection)
      onEnd(outcome)
    })
    return () => {
      cancel()
      this.#release(connection)
    }
  }

  /** A connection has ended a request. */
  #release(connection: Connection): void {
    if (!this.#keepAlive) connection.close()
    if (connection.free === 0) this.#connections.delete(connection)
    else {
      this.#connections.add(connection)
      // With room for one more request, it had none before, and was not available.
      if (connection.free === 1 || !this.#available.includes(connection)) this.#available.push(connection)
    }
    this.#sendWaiting()
  }

  #sendWaiting(): void {
    while (this.#next < this.#waiting.length) {
      const waiting = this.#waiting[this.#next]!
      const connection = waiting.isCanceled ? undefined : this.#take()
      if (!waiting.isCanceled && !connection) return
      this.#next++
      if (connection) waiting.cancel = this.#sendOver(connection, waiting.onEnd)
      if (this.#next < MAX_SENT) continue
      this.#waiting.splice(0, this.#next)
      this.#next = 0
    }
  }
}
