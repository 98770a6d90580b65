// While an app loads, the channel to the primary must not keep the event loop alive: an app with nothing left to run can
// never load, and the start can fail.

/** Frees the event loop of the channel until `end()`. */
export class LoadingChannel {
  readonly #mayRespond: () => boolean
  #hasEnded = false

  /** @param mayRespond whether the app waits for a response of the primary */
  constructor(mayRespond: () => boolean) {
    this.#mayRespond = mayRespond
    process.channel?.unref()
  }

  /** Whether the app waits for a response of the primary. If so, keeps the event loop alive until the next message. */
  readonly isPending = (): boolean => {
    if (!this.#mayRespond()) return false
    process.channel?.ref()
    process.once('message', () => {
      if (!this.#hasEnded) process.channel?.unref()
    })
    return true
  }

  end(): void {
    this.#hasEnded = true
    process.channel?.ref()
  }
}
