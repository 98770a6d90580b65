import type { Clock } from '../../src/load-test/clock.ts'

interface Event {
  readonly time: number
  readonly callback: () => void
}

/** A clock whose time passes only when a test lets it. */
export class FakeClock implements Clock {
  readonly #events: Event[] = []
  #now = 0

  now(): number {
    return this.#now
  }

  wakeAt(time: number, callback: () => void): void {
    const index = this.#events.findIndex((event) => event.time > time)
    this.#events.splice(index === -1 ? this.#events.length : index, 0, { time: Math.max(time, this.#now), callback })
  }

  sleep(duration: number, callback: () => void): void {
    this.wakeAt(this.#now + duration, callback)
  }

  /** The process stands still for some milliseconds. */
  stall(duration: number): void {
    this.#now += duration
  }

  /** Lets time pass until nothing is left to happen. */
  async run(): Promise<void> {
    for (let event = this.#events.shift(); event; event = this.#events.shift()) {
      this.#now = Math.max(this.#now, event.time)
      event.callback()
      // Promises that the event has settled come before the next one.
      if (this.#events.length === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  }
}
