import { isDeepStrictEqual } from 'node:util'

/** What happened, in order; and a way to wait for it, whether it has happened or not. */
export class Journal<T = unknown> {
  #entries: T[] = []
  readonly #waiting = new Set<() => void>()

  get entries(): readonly T[] {
    return this.#entries
  }

  add(entry: T): void {
    this.#entries.push(entry)
    for (const look of this.#waiting) look()
  }

  /** Resolves when there is such an entry. */
  until(entry: T): Promise<void> {
    return this.#untilSome((found) => isDeepStrictEqual(found, entry), 1)
  }

  /** Resolves when there are that many entries of a kind, and gives them. */
  async untilSome(holds: (entry: T) => boolean, count = 1): Promise<T[]> {
    await this.#untilSome(holds, count)
    return this.#entries.filter(holds)
  }

  /** Forgets what happened. */
  clear(): void {
    this.#entries = []
  }

  async #untilSome(holds: (entry: T) => boolean, count: number): Promise<void> {
    const isThere = (): boolean => this.#entries.filter(holds).length >= count
    if (isThere()) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const look = (): void => {
      if (isThere()) resolve()
    }
    this.#waiting.add(look)
    await promise
    this.#waiting.delete(look)
  }
}
