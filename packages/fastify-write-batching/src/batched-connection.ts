// Batches the writes of one connection. Node corks a socket while it writes a response, and uncorks it where the response
// ends. Here, the uncorking waits for the end of the tick. Everything above the socket is unchanged: the response has
// ended, and Fastify knows it as sent. Deferring `reply.send()` instead would break handlers that rely on that.

import { Duplex } from 'node:stream'
import type { WriteBatch } from './write-batch.ts'

// oxlint-disable-next-line typescript/unbound-method -- they are called with the socket as `this`
const { uncork, destroy } = Duplex.prototype

const connection = Symbol('fastify-write-batching')

interface BatchedSocket extends Duplex {
  [connection]?: BatchedConnection
  /** Node's parser of HTTP/1 requests. Upgraded connections have none. */
  readonly parser?: object | null
}

let created = 0

class BatchedConnection {
  readonly #socket: BatchedSocket
  readonly #batch: WriteBatch
  /** Tick of the last write. */
  #tick = -1
  #isWaiting = false
  readonly #id = created++
  readonly #flush = (): void => this.flush()

  constructor(socket: BatchedSocket, batch: WriteBatch) {
    this.#socket = socket
    this.#batch = batch
  }

  /** Uncorks the socket, now or at the end of the tick. */
  uncork(): void {
    // The first cork is that of the response that waits, which is written with all that follows it in this tick.
    if (this.#isWaiting ? this.#socket.writableCorked > 1 : !this.#defers()) uncork.call(this.#socket)
  }

  /** Writes a response that waits. */
  flush(): void {
    if (!this.#isWaiting) return
    this.#isWaiting = false
    uncork.call(this.#socket)
  }

  #defers(): boolean {
    const { writableCorked, writableLength, parser } = this.#socket
    // The cork holds nothing back, or the connection was upgraded.
    if (writableCorked !== 1 || writableLength === 0 || parser == null) return false
    if (this.#batch.isAlone(this.#id)) return false
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
 * Batches what an HTTP server writes to a connection from now on. Further calls have no effect, nor has the first one if
 * another library has replaced the same methods.
 *
 * @example
 * createServer((request, response) => {
 *   batchConnection(request.socket, batch)
 *   response.end('hello')
 * })
 */
export function batchConnection(socket: Duplex, batch: WriteBatch): void {
  if (socket.uncork !== uncork || socket.destroy !== destroy) return
  const batched: BatchedSocket = socket
  batched[connection] = new BatchedConnection(batched, batch)
  batched.uncork = uncorkBatched
  batched.destroy = destroyBatched
}

function uncorkBatched(this: BatchedSocket): void {
  this[connection]!.uncork()
}

/** Writes a response that waits before the connection closes: to Node it has ended, so the connection may count as idle. */
function destroyBatched(this: BatchedSocket, error?: Error): BatchedSocket {
  this[connection]!.flush()
  return destroy.call(this, error) as BatchedSocket
}
