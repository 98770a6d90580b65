/** Runs operations on the workers one after another: reloads, replacements and changes of their number. */
export class OperationQueue {
  readonly #assertOpen: () => void
  #last: Promise<unknown> = Promise.resolve()

  /** @param assertOpen throws when the server is closed */
  constructor(assertOpen: () => void) {
    this.#assertOpen = assertOpen
  }

  run(operation: () => Promise<void>): Promise<void> {
    const before = this.#last
    const current = (async () => {
      await before
      // If the server was closed meanwhile, that is the reason of any failure.
      this.#assertOpen()
      try {
        await operation()
      } catch (error) {
        this.#assertOpen()
        throw error
      }
    })()
    this.#last = current.catch(() => {})
    return current
  }
}
