/** Streams that end with the app and not by themselves. */
export class OpenStreams {
  readonly #ends = new Set<() => void>()

  /** Takes what ends a stream; gives what is to be called when it has ended already. */
  add(end: () => void): () => void {
    this.#ends.add(end)
    return () => void this.#ends.delete(end)
  }

  endAll(): void {
    for (const end of this.#ends) end()
    this.#ends.clear()
  }
}
