// Decides by all revalidations whether an entry is fresh, stale or expired. It compares positions in the log of changes, not
// times: an entry that was begun before a revalidation has old data, even if it was stored later. Clocks of processes may
// differ.

import { FIRST_POSITION, type Change } from './store-contract.ts'

/** The used parts of an entry. */
export interface EntryOrigin {
  readonly key: string
  readonly tags: readonly string[]
  /** The position in the log when rendering began. */
  readonly since: number
}

/** The state of a tag. */
interface TagState {
  /** Entries that were begun before this position are expired. */
  expired: number
  /** Entries that were begun before this position are stale. */
  stale: number
  /** When the tag last went stale, and when stale entries expire, in milliseconds since 1970. */
  staleAt: number
  expireAt: number
}

/** All known revalidations. */
export class Revalidations {
  readonly #tags = new Map<string, TagState>()
  readonly #pages = new Map<string, number>()
  /** Revalidations before this position are unknown. */
  #known = FIRST_POSITION

  add({ tags = [], at = 0, stale = false, expireAt = Infinity, page, since = 0 }: Change, position: number): void {
    for (const tag of tags) {
      const changes = this.#of(tag)
      if (!stale) {
        changes.expired = position
        continue
      }
      // Entries that have expired by now stay expired.
      if (changes.expireAt <= at) changes.expired = Math.max(changes.expired, changes.stale)
      changes.expireAt = changes.expireAt > at ? Math.min(changes.expireAt, expireAt) : expireAt
      changes.stale = position
      changes.staleAt = at
    }
    if (page !== undefined) this.#pages.set(page, Math.max(since, this.#pages.get(page) ?? 0))
  }

  /** Forgets all revalidations before a position. */
  forget(position: number): void {
    this.#tags.clear()
    this.#pages.clear()
    this.#known = position
  }

  /** Whether an entry must not be served. */
  isExpired({ key, tags, since }: EntryOrigin, now: number): boolean {
    if (since < this.#known || since < (this.#pages.get(key) ?? 0)) return true
    return tags.some((tag) => {
      const changes = this.#tags.get(tag)
      if (changes === undefined) return false
      return changes.expired > since || (changes.stale > since && changes.expireAt <= now)
    })
  }

  /** When an entry went stale. Undefined if it is fresh. */
  staleAt({ tags, since }: EntryOrigin): number | undefined {
    const times = tags.flatMap((tag) => {
      const changes = this.#tags.get(tag)
      return changes !== undefined && changes.stale > since ? changes.staleAt : []
    })
    return times.length === 0 ? undefined : Math.min(...times)
  }

  /** Whether data of an entry may have changed since its rendering began. */
  affects(entry: EntryOrigin, now: number): boolean {
    return this.isExpired(entry, now) || this.staleAt(entry) !== undefined
  }

  #of(tag: string): TagState {
    let changes = this.#tags.get(tag)
    if (changes === undefined) {
      changes = { expired: 0, stale: 0, staleAt: 0, expireAt: Infinity }
      this.#tags.set(tag, changes)
    }
    return changes
  }
}
