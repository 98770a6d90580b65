// Batches the writes of one connection. Node corks a socket while it writes a response, and uncorks it where the response
// ends. Here, the uncorking waits for the end of the tick. Everything above the socket is unchanged: the response has
// ended, and Fastify knows it as sent. Deferring `reply.send()` instead would break handlers that rely on that.

import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { WriteBatch } from './write-batch.ts'

// oxlint-disable-next-line typescript/unbound-method -- they are called with the socket as `this`
const { uncork, destroy } = Socket.prototype

const connection = Symbol('fastify-write-batching')

interface BatchedSocket extends Socket {
  [connection]?: BatchedConnection
  /** Node's parser of HTTP/1 requests. Upgraded connections have none. */
  readonly parser?: object | null
}

class BatchedConnection {
  readonly #socket: BatchedSocket
  readonly #batch: WriteBatch
  /** Tick of the last write. */
  #tick = -1
  #isWaiting = false
  readonly #flush = (): void => this.flush()

  constructor(socket: BatchedSocket, batch: WriteBatch) {
    this.#socket = socket
    this.#batch = batch
  }

  /** Uncorks the socket, now or at the end of the tick. */
  uncork(): void {
    if (this.#isWaiting) this.#uncorkWaiting()
    else if (!this.#defers()) uncork.call(this.#socket)
  }

  /** Writes a response that waits. */
  flush(): void {
    if (!this.#isWaiting) return
    this.#isWaiting = false
    this.#tick = this.#batch.tick
    uncork.call(this.#socket)
  }

  /** More was written behind a response that waits: it waits, too, unless it is long or the app has corked the socket. */
  #uncorkWaiting(): void {
    if (this.#socket.writableCorked > 1) uncork.call(this.#socket)
    else if (this.#socket.writableLength > this.#socket.writableHighWaterMark) this.flush()
  }

  #defers(): boolean {
    const { writableCorked, writableLength, writableNeedDrain, parser } = this.#socket
    // The cork holds nothing back, or the client reads slowly, or the connection was upgraded.
    if (writableCorked !== 1 || writableLength === 0 || writableNeedDrain || parser == null) return false
    // A second write of a tick is pipelined, or part of a stream: its client is awake.
    if (this.#tick === this.#batch.tick) return false
    this.#tick = this.#batch.tick
    if (!this.#batch.shouldDefer(writableLength)) return false
    this.#isWaiting = true
    this.#batch.defer(this.#flush, writableLength)
    return true
  }
}

/**
 * Batches what an HTTP server writes to a connection from now on. Calls for the same connection, and for one that is not
 * a plain `net.Socket` or `tls.TLSSocket`, have no effect.
 *
 * @example
 * createServer((request, response) => {
 *   batchConnection(request.socket, batch)
 *   response.end('hello')
 * })
 */
export function batchConnection(socket: Duplex, batch: WriteBatch): void {
  const batched = socket as BatchedSocket
  if (batched[connection] !== undefined || !isUnchanged(socket)) return
  batched[connection] = new BatchedConnection(batched, batch)
  batched.uncork = uncorkBatched
  batched.destroy = destroyBatched
}

/** Whether no other library has replaced the same methods. */
function isUnchanged(socket: Duplex): boolean {
  return socket instanceof Socket && socket.uncork === uncork && socket.destroy === destroy
}

function uncorkBatched(this: BatchedSocket): void {
  this[connection]!.uncork()
}

/** Without an error, a response that waits is written first: Node takes its connection for idle. */
function destroyBatched(this: BatchedSocket, error?: Error): BatchedSocket {
  if (error == null) this[connection]!.flush()
  return destroy.call(this, error) as BatchedSocket
}
