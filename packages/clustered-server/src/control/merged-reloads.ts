/** Merges requests for a reload that arrive during one into one that follows it. */
export class MergedReloads {
  readonly #reload: () => Promise<void>
  #running: Promise<void> | undefined
  #waiting: Promise<void> | undefined

  constructor(reload: () => Promise<void>) {
    this.#reload = reload
  }

  /** Resolves after a reload that has started after this call. */
  run(): Promise<void> {
    if (!this.#running && !this.#waiting) return this.#start()
    this.#waiting ??= this.#running!.then(
      () => this.#startNext(),
      () => this.#startNext(),
    )
    return this.#waiting
  }

  #startNext(): Promise<void> {
    this.#waiting = undefined
    return this.#start()
  }

  #start(): Promise<void> {
    const running = this.#reload().finally(() => {
      if (this.#running === running) this.#running = undefined
    })
    this.#running = running
    return running
  }
}
