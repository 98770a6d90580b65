import type { Cancel, OnEnd } from '../connection/connection.ts'
import type { Clock } from './clock.ts'
import type { Tally } from './tally.ts'

/** A request without a response so far. */
interface Pending {
  readonly intended: number
  readonly timeout: () => void
}

/**
 * The requests of a load. The latency of each counts from its intended time: the wait for a busy generator or for a free
 * connection is part of it.
 */
export class Requests {
  readonly #clock: Clock
  readonly #timeout: number
  /** In the order of their intended times. */
  readonly #pending = new Set<Pending>()
  #onIdle = (): void => {}
  /** Requests and responses so far. */
  activity = 0

  /** @param timeout milliseconds after the intended time until a request has failed */
  constructor(clock: Clock, timeout: number) {
    this.#clock = clock
    this.#timeout = timeout
  }

  /** Sends a request by this function, and calls `onEnd` when it has a response or failed. */
  send(sender: (onEnd: OnEnd) => Cancel, intended: number, tally: Tally, onEnd: () => void = () => {}): void {
    this.activity++
    tally.sent(this.#clock.now() - intended)
    const settle = (): void => {
      this.activity++
      this.#pending.delete(pending)
      onEnd()
      if (this.#pending.size === 0) this.#onIdle()
    }
    const cancel = sender((outcome) => {
      tally.end(outcome, { intended, now: this.#clock.now() })
      settle()
    })
    const pending: Pending = {
      intended,
      timeout: () => {
        cancel()
        tally.timeout()
        settle()
      },
    }
    this.#pending.add(pending)
  }

  /** Ends the requests that have waited for too long. */
  expire(): void {
    const earliest = this.#clock.now() - this.#timeout
    for (const { intended, timeout } of this.#pending) {
      if (intended > earliest) break
      timeout()
    }
  }

  /** Resolves when no request is pending. */
  whenIdle(): Promise<void> {
    if (this.#pending.size === 0) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onIdle = resolve
    return promise
  }
}
