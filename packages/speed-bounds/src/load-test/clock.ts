/** The time of a load, which a test can replace. */
export interface Clock {
  /** Milliseconds. */
  now(): number
  /** Calls back at a time, or soon after it. */
  wakeAt(time: number, callback: () => void): void
  /** Calls back after some milliseconds, to the precision of a timer. */
  sleep(duration: number, callback: () => void): void
}

/** Milliseconds before a time at which a sleep ends. Timers have a resolution of 1 ms, and fire late. */
const POLLED = 2

/**
 * The time of this process. Timers are too coarse to send requests on time, so it polls for the last 2 ms: an event
 * loop with an immediate handles its connections and comes back. With a single core, it only sleeps.
 */
export class PollingClock implements Clock {
  readonly #canPoll: boolean
  /** Counts work of the event loop. */
  readonly #activity: () => number
  /** Milliseconds of polls between which nothing happened. */
  waited = 0

  constructor(canPoll: boolean, activity: () => number) {
    this.#canPoll = canPoll
    this.#activity = activity
  }

  now(): number {
    return performance.now()
  }

  wakeAt(time: number, callback: () => void): void {
    const wait = time - performance.now()
    if (!this.#canPoll) setTimeout(callback, Math.max(0, wait))
    else if (wait > POLLED) setTimeout(() => this.wakeAt(time, callback), wait - POLLED)
    else this.#poll(time, callback)
  }

  sleep(duration: number, callback: () => void): void {
    setTimeout(callback, duration)
  }

  #poll(time: number, callback: () => void): void {
    const from = performance.now()
    const before = this.#activity()
    setImmediate(() => {
      const now = performance.now()
      if (this.#activity() === before) this.waited += now - from
      if (now >= time) callback()
      else this.#poll(time, callback)
    })
  }
}
