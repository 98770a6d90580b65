import { LRUCache } from 'lru-cache'

/** How long a path bypasses the cache after an uncacheable response, in ms. It may become another page by then. */
const BYPASS_TIME = 1000

/** Records for each kind of request whether the last response was cached. */
export class PathHistory {
  /** Until when responses are not recorded, in milliseconds since 1970. 0 if the last one was cached. */
  readonly #bypassUntil: LRUCache<string, number>

  constructor(maxEntries: number) {
    this.#bypassUntil = new LRUCache({ max: maxEntries })
  }

  wasCached(kind: string): void {
    this.#bypassUntil.set(kind, 0)
  }

  wasUncacheable(kind: string): void {
    this.#bypassUntil.set(kind, Date.now() + BYPASS_TIME)
  }

  /** Whether a response was uncacheable less than a second ago. */
  isBypassed(kind: string): boolean {
    return (this.#bypassUntil.get(kind) ?? 0) > Date.now()
  }

  /** Whether the last response was cached. Undefined without a response so far. */
  isCacheable(kind: string): boolean | undefined {
    const until = this.#bypassUntil.get(kind)
    return until === undefined ? undefined : until === 0
  }

  clear(): void {
    this.#bypassUntil.clear()
  }
}
