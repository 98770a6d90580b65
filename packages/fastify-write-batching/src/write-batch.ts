// Calls writes that wait at the end of the event-loop tick, or earlier if they are many.

import { AsyncResource } from 'node:async_hooks'
import { BusyTick } from './busy-tick.ts'

/** Maximum writes that wait. The client reads the first ones while the server makes the next ones. */
const MAX_WRITES = 32

/** Maximum bytes that wait. */
const MAX_BYTES = 1_048_576

/** A write in the async context of the response. */
class DeferredWrite extends AsyncResource {
  readonly #write: () => void

  constructor(write: () => void) {
    super('DeferredWrite', { requireManualDestroy: true })
    this.#write = write
  }

  /** One that throws does not stop others. */
  run(): void {
    try {
      this.runInAsyncScope(this.#write)
    } catch (error) {
      process.nextTick(() => {
        throw error
      })
    }
  }
}

/**
 * Defers writes to the end of the event-loop tick.
 *
 * @example
 * if (batch.shouldDefer()) batch.defer(() => response.end(body))
 * else response.end(body)
 */
export class WriteBatch {
  /** Writes that were deferred. */
  batched = 0
  /** Writes that were not deferred. */
  immediate = 0
  /** Grows with each tick that has writes. */
  tick = 0

  readonly #busyTick = new BusyTick(() => this.#endTick())
  #lastSource = -1
  #waiting: DeferredWrite[] = []
  #bytes = 0
  #isWriting = false

  /**
   * Returns whether all recent writes come from one connection. It need not call `shouldDefer()`, which costs a timer for
   * each tick.
   *
   * @param source - number of the connection
   */
  isAlone(source: number): boolean {
    if (source === this.#lastSource && this.#busyTick.isQuiet) {
      this.immediate++
      return true
    }
    this.#lastSource = source
    return false
  }

  /**
   * Counts a write that is ready, and returns whether to defer it.
   *
   * @param bytes - size of the write, where it is known
   */
  shouldDefer(bytes: number = 0): boolean {
    // Writes that follow from deferred ones leave together anyway.
    const waits = !this.#isWriting && this.#busyTick.count()
    if (waits && this.#bytes + bytes <= MAX_BYTES) return true
    this.immediate++
    return false
  }

  /**
   * Calls a function at the end of this tick or earlier, in the async context of the caller.
   *
   * @param bytes - size of the write, where it is known
   */
  defer(write: () => void, bytes: number = 0): void {
    this.batched++
    this.#bytes += bytes
    this.#busyTick.endLater()
    if (this.#waiting.push(new DeferredWrite(write)) >= MAX_WRITES) this.#writeAll()
  }

  #endTick(): void {
    this.tick++
    if (this.#waiting.length === 0) return
    this.#isWriting = true
    this.#writeAll()
    // A microtask runs after the `process.nextTick` calls in which Node writes the next pipelined response.
    queueMicrotask(() => this.#endWriting())
  }

  #writeAll(): void {
    const writes = this.#waiting
    this.#waiting = []
    this.#bytes = 0
    for (const write of writes) write.run()
  }

  /** Writes from now on belong to another tick, although none has ended this one. */
  #endWriting(): void {
    this.#isWriting = false
    this.tick++
  }
}

/**
 * Creates a batch for an HTTP server. Connections of one server share a batch; it belongs to one thread.
 *
 * @example
 * const batch = createWriteBatch()
 * createServer((request, response) => {
 *   batchConnection(request.socket, batch)
 *   response.end('hello')
 * })
 */
export function createWriteBatch(): WriteBatch {
  return new WriteBatch()
}
