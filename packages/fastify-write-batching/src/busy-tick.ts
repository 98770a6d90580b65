// Decides whether writes wait for the end of the event-loop tick, so that several leave together. That pays only under
// load: a lone client would get 10 % fewer responses. See docs/measurements.md#write-batching

import type { ServerResponse } from 'node:http'

/** Maximum time per write of a tick for which waiting pays, in ms. See docs/measurements.md#write-batching */
const MAX_TIME_PER_WRITE = 0.25

/**
 * Counts the writes of event-loop ticks, and tells whether the last tick had several in quick succession. Writes of one
 * thread share a counter for each kind.
 *
 * @example
 * const busyTick = new BusyTick()
 * if (busyTick.shouldWait(response)) setImmediate(() => response.end(body))
 * else response.end(body)
 */
export class BusyTick {
  readonly #onEnd: (() => void) | undefined
  #writes = 0
  #startedAt = 0
  #wasBusy = false
  #endsLater = false

  /** @param onEnd - called at the end of each tick that has writes */
  constructor(onEnd?: () => void) {
    this.#onEnd = onEnd
  }

  /** Whether this tick has no write so far, and the last one was not busy. */
  get isQuiet(): boolean {
    return this.#writes === 0 && !this.#wasBusy
  }

  /**
   * Counts a response that is ready, and returns whether it should wait for the end of this tick. A pipelined one, which
   * waits for an earlier response anyway, is not held back: that would cost CPU and memory.
   */
  shouldWait({ socket }: Pick<ServerResponse, 'socket'>): boolean {
    // A pipelined response gets its socket once the earlier ones are sent.
    return socket !== null && this.count()
  }

  /** Counts a write that is ready, and returns whether it should wait for the end of this tick. */
  count(): boolean {
    if (this.#writes++ === 0) {
      this.#startedAt = performance.now()
      this.endLater()
    }
    return this.#wasBusy
  }

  /** Calls `onEnd` at the end of this tick, although it may have no counted write. */
  endLater(): void {
    if (this.#endsLater) return
    this.#endsLater = true
    setImmediate(BusyTick.#end, this)
  }

  static #end(this: void, tick: BusyTick): void {
    const writes = tick.#writes
    tick.#wasBusy = writes > 1 && performance.now() - tick.#startedAt < MAX_TIME_PER_WRITE * writes
    tick.#writes = 0
    tick.#endsLater = false
    tick.#onEnd?.()
  }
}
