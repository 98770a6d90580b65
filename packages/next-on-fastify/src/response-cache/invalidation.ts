// Deletes cached responses when Next's cache changes, and detects changes during a rendering.

import { onCacheChange, type PageRead } from '../next/page-cache/cache-events.ts'
import type { ResponseStore } from './store.ts'

/** Follows the changes of Next's cache for one store. */
export class Invalidation {
  /** Number of responses that were deleted after a revalidation. */
  deleted = 0
  readonly #store: ResponseStore
  readonly #stop: () => void
  /** When tags that are stale now will expire. */
  readonly #expiring = new Map<string, number>()
  /** Changes that a request caused by regenerating its own page, by the reads of that request. */
  readonly #ownChanges = new WeakMap<readonly PageRead[], number>()
  #position = 0

  constructor(store: ResponseStore) {
    this.#store = store
    this.#stop = onCacheChange({
      replaced: (key, by = []) => {
        this.#position++
        if (by.some((read) => read.key === key)) this.#ownChanges.set(by, (this.#ownChanges.get(by) ?? 0) + 1)
        this.deleted += store.deleteIf(({ page }) => page?.key === key && !by.includes(page))
      },
      revalidated: (tags, expireAt) => this.#revalidated(tags, expireAt),
      lost: () => {
        this.#position++
        this.deleted += store.deleteIf(({ page }) => page !== undefined)
      },
    })
  }

  /** The number of changes so far. */
  get position(): number {
    return this.#position
  }

  /** Whether Next's cache has changed since a position, except by the request with these reads. */
  hasChangedSince(position: number, reads: readonly PageRead[]): boolean {
    return position + (this.#ownChanges.get(reads) ?? 0) !== this.#position
  }

  /** When a page expires because of a stale tag, in milliseconds since 1970. */
  expiryOf(page: PageRead | undefined): number {
    const now = Date.now()
    const times = (page?.tags ?? []).flatMap((tag) => this.#expiring.get(tag) ?? []).filter((at) => at >= now)
    return Math.min(Infinity, ...times)
  }

  stop(): void {
    this.#stop()
  }

  #revalidated(tags: readonly string[], expireAt: number | undefined): void {
    this.#position++
    if (expireAt !== undefined) this.#expireAt(tags, expireAt)
    this.deleted += this.#store.deleteIf(
      ({ page }) => page !== undefined && page.tags.some((tag) => tags.includes(tag)),
    )
  }

  /** A stale tag expires later, also for a page that is rendered in between. */
  #expireAt(tags: readonly string[], expireAt: number): void {
    const now = Date.now()
    for (const [tag, at] of this.#expiring) {
      if (at < now) this.#expiring.delete(tag)
    }
    for (const tag of tags) this.#expiring.set(tag, Math.min(expireAt, this.#expiring.get(tag) ?? Infinity))
  }
}
