/** The streams to end when the app closes. */
export class OpenStreams {
  readonly #ends = new Set<() => void>()

  /** Adds the function that ends a stream. Returns the function to call after the stream has ended. */
  add(end: () => void): () => void {
    this.#ends.add(end)
    return () => void this.#ends.delete(end)
  }

  endAll(): void {
    for (const end of this.#ends) end()
    this.#ends.clear()
  }
}
