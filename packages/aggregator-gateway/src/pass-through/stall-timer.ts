// Finds out that a transfer makes no progress: neither the upstream nor the client may pause for too long.

/** The request that a timer belongs to. */
export interface StallOwner {
  /** Whether the client is to send or to read now, not the upstream. */
  readonly isClientsTurn: boolean
  /** Whether the upstream may pause for any time. */
  readonly mayPause: boolean
  stalled: (isClientsFault: boolean) => void
}

export interface StallTimeouts {
  /** Maximum pause of the upstream, in ms. */
  readonly timeout: number
  /** Maximum pause of the client, in ms. */
  readonly clientTimeout: number
}

export class StallTimer {
  readonly #owner: StallOwner
  readonly #timeouts: StallTimeouts
  #timer: NodeJS.Timeout | undefined
  #progressAt = performance.now()
  /** Maximum time until the next check, in ms. The turn may change before, so no sleep is longer than either may pause. */
  readonly #maxSleep: number

  constructor(owner: StallOwner, timeouts: StallTimeouts) {
    this.#owner = owner
    this.#timeouts = timeouts
    this.#maxSleep = Math.min(timeouts.timeout, timeouts.clientTimeout)
  }

  start(): void {
    this.#timer = setTimeout(check, this.#maxSleep, this)
  }

  progress(): void {
    this.#progressAt = performance.now()
  }

  clear(): void {
    clearTimeout(this.#timer)
  }

  check(): void {
    const { timeout, clientTimeout } = this.#timeouts
    const { isClientsTurn, mayPause } = this.#owner
    if (mayPause && !isClientsTurn) this.progress()
    const left = (isClientsTurn ? clientTimeout : timeout) - (performance.now() - this.#progressAt)
    if (left <= 0) return this.#owner.stalled(isClientsTurn)
    this.#timer = setTimeout(check, Math.min(left, this.#maxSleep), this)
  }
}

function check(timer: StallTimer): void {
  timer.check()
}
