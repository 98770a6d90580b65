// One timer per request, for its deadline and for all times that its calls wait for. It is set to the earliest and rarely
// fires. Two timers for each of five calls cost 3 % more CPU. See docs/measurements.md#one-timer

/** The request that a timer belongs to. */
export interface TimerOwner {
  wake: () => void
}

export class RequestTimer {
  /** The deadline, as time of `performance.now()`. */
  readonly expiresAt: number
  #timer: NodeJS.Timeout | undefined
  #firesAt = Number.POSITIVE_INFINITY

  constructor(timeout: number) {
    this.expiresAt = performance.now() + timeout
  }

  /** Milliseconds until the deadline. */
  timeLeft(): number {
    return this.expiresAt - performance.now()
  }

  /** Whether it fires later than that time, or not at all. */
  isAfter(time: number): boolean {
    return time < this.#firesAt
  }

  set(time: number, owner: TimerOwner): void {
    clearTimeout(this.#timer)
    this.#firesAt = time
    // Overdue work is not delayed. Node warns about a negative delay.
    this.#timer = setTimeout(wake, Math.max(0, Math.ceil(time - performance.now())), owner)
  }

  clear(): void {
    clearTimeout(this.#timer)
  }
}

function wake(owner: TimerOwner): void {
  owner.wake()
}
