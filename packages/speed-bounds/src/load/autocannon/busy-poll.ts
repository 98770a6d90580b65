// Keeps the generator awake. Waking a sleeping generator costs the server up to as much as the rest of a small
// response. A sleeping generator also takes responses one by one, so the server gets
// requests one by one and sleeps in between. See docs/measurements.md#bimodal-cost

import { performance } from 'node:perf_hooks'

export class BusyPoll {
  readonly #interval: number
  #next: NodeJS.Immediate | undefined
  /** Milliseconds without other work. */
  waited = 0

  /** @param interval microseconds between two polls of the connections; with 0, an idle generator sleeps */
  constructor(interval: number) {
    this.#interval = interval / 1000
  }

  start(): void {
    if (this.#interval > 0) this.#next ??= setImmediate(this.#wait)
  }

  stop(): void {
    clearImmediate(this.#next)
    this.#next = undefined
  }

  /** An event loop with an immediate does not sleep: it polls its connections and comes back. */
  readonly #wait = (): void => {
    const from = performance.now()
    let now = from
    while (now - from < this.#interval) now = performance.now()
    this.waited += now - from
    this.#next = setImmediate(this.#wait)
  }
}
