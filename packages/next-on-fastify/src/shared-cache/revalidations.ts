// What was revalidated, and what that means for an entry that was made before or after.
//
// Before and after are positions in the log of changes, not times: what was begun before a revalidation and has ended after
// it was made of old data, whatever its time says, and the clocks of two processes need not agree.

import { FIRST_POSITION, type Change } from './files/change-log.ts'

/** What is asked about: an entry of the cache. */
export interface Made {
  readonly key: string
  readonly tags: readonly string[]
  /** The position in the log when its making began. */
  readonly since: number
}

/** What became of a tag. */
interface TagChanges {
  /** Position after which an entry must have been begun to be shown. */
  expired: number
  /** Position after which it must have been begun to be fresh. */
  stale: number
  /** When it went stale last, and when what is stale may not be shown any more: milliseconds since 1970. */
  staleAt: number
  expireAt: number
}

/** Everything that was revalidated, as far as it is known. */
export class Revalidations {
  readonly #tags = new Map<string, TagChanges>()
  readonly #pages = new Map<string, number>()
  /** Of what was begun before nobody knows. */
  #known = FIRST_POSITION

  add({ tags = [], at = 0, stale = false, expireAt = Infinity, page, since = 0 }: Change, position: number): void {
    for (const tag of tags) {
      const changes = this.#of(tag)
      if (!stale) {
        changes.expired = position
        continue
      }
      // What had to go by now does not come back.
      if (changes.expireAt <= at) changes.expired = Math.max(changes.expired, changes.stale)
      changes.expireAt = changes.expireAt > at ? Math.min(changes.expireAt, expireAt) : expireAt
      changes.stale = position
      changes.staleAt = at
    }
    if (page !== undefined) this.#pages.set(page, Math.max(since, this.#pages.get(page) ?? 0))
  }

  /** Forgets what was before. */
  forget(position: number): void {
    this.#tags.clear()
    this.#pages.clear()
    this.#known = position
  }

  /** Whether an entry must not be shown any more. */
  isExpired({ key, tags, since }: Made, now: number): boolean {
    if (since < this.#known || since < (this.#pages.get(key) ?? 0)) return true
    return tags.some((tag) => {
      const changes = this.#tags.get(tag)
      if (changes === undefined) return false
      return changes.expired > since || (changes.stale > since && changes.expireAt <= now)
    })
  }

  /** When an entry went stale, if it did. */
  staleAt({ tags, since }: Made): number | undefined {
    const times = tags.flatMap((tag) => {
      const changes = this.#tags.get(tag)
      return changes !== undefined && changes.stale > since ? changes.staleAt : []
    })
    return times.length === 0 ? undefined : Math.min(...times)
  }

  /** Whether anything that an entry was made of may have changed since its making began. */
  haveTouched(made: Made, now: number): boolean {
    return this.isExpired(made, now) || this.staleAt(made) !== undefined
  }

  #of(tag: string): TagChanges {
    let changes = this.#tags.get(tag)
    if (changes === undefined) {
      changes = { expired: 0, stale: 0, staleAt: 0, expireAt: Infinity }
      this.#tags.set(tag, changes)
    }
    return changes
  }
}
