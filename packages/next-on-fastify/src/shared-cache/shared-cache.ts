// One cache of pages and data, for all processes that serve the same build.

import { randomUUID } from 'node:crypto'
import { serialize } from 'node:v8'
import { LRUCache } from 'lru-cache'
import { notifyLost, notifyReplaced, notifyRevalidated } from '../next/page-cache/cache-events.ts'
import type { Found, Lifetime } from '../next/page-cache/cache-handler-types.ts'
import type { AddRevalidatedTags } from '../next/page-cache/revalidated-tags.ts'
import { type EntryOrigin, Revalidations } from './entry-freshness.ts'
import { PositionHistory } from './position-history.ts'
import {
  type Change,
  type ChangeReader,
  type Changes,
  type Entries,
  type Entry,
  FIRST_POSITION,
  type Store,
  UNKNOWN,
} from './store-contract.ts'

/** The state in which a rendering began. */
export interface Rendering {
  readonly since: number
  readonly at: number
  /** Tags of fetched data, which Next does not pass again when it stores an entry. */
  readonly tags: readonly string[]
  /** The previous entry. If rendering fails, Next stores it again unchanged. */
  readonly previous: Entry | undefined
}

/** An entry that was read from the store or, if it has none, from the build. */
interface Copy {
  readonly version: string | undefined
  readonly entry: Entry
}

/** The shared cache of one app. */
export class SharedCache implements ChangeReader {
  readonly #log: Changes
  readonly #entries: Entries
  readonly #revalidations = new Revalidations()
  readonly #addRevalidatedTags: AddRevalidatedTags
  readonly #processId: string = randomUUID()
  readonly #history: PositionHistory = new PositionHistory(FIRST_POSITION)
  /** Revalidations of this tick: Next passes each one to the caches of pages and of `'use cache'`. */
  readonly #revalidating = new Map<string, Promise<void>>()
  /** Copies of entries, valid while their version is current. */
  #copies: LRUCache<string, Copy> | undefined

  /** @param open - opens the store of the build, and passes its changes to the reader */
  constructor(open: (reader: ChangeReader) => Store, addRevalidatedTags: AddRevalidatedTags) {
    this.#addRevalidatedTags = addRevalidatedTags
    const { changes, entries } = open(this)
    this.#log = changes
    this.#entries = entries
  }

  /** Reads all revalidations before this call, of any process. */
  sync(): void | Promise<void> {
    return this.#log.read()
  }

  get position(): number {
    return this.#log.position
  }

  /** The position at a time of this process: an entry that was begun then has no later changes. */
  positionAt(time: number): number {
    return this.#history.at(time)
  }

  /** Whether an entry must not be served, as far as this process knows. */
  isExpired(origin: EntryOrigin): boolean {
    return this.#revalidations.isExpired(origin, Date.now())
  }

  /** Whether an entry may be served once more. */
  isStale(origin: EntryOrigin): boolean {
    return this.#revalidations.staleAt(origin) !== undefined
  }

  /** Enables copies in this process, up to this number of bytes. */
  keepCopies(bytes: number): void {
    if (bytes > 0) this.#copies ??= new LRUCache({ maxSize: bytes })
  }

  /** Finds an entry that may be served. `seed` reads the entry of the build. */
  async find(
    key: string,
    tagsOf: (value: unknown) => readonly string[],
    seed: () => Promise<Found | null>,
  ): Promise<{ readonly found: Found | null; readonly previous: Entry | undefined }> {
    const version = this.#entries.versionOf(key)
    const entry = await this.#read(key, version, seed)
    if (entry === undefined) return { found: null, previous: undefined }
    // A revalidation may have happened during the read.
    await this.sync()
    const origin = { key, tags: tagsOf(entry.value), since: entry.since }
    if (this.#revalidations.isExpired(origin, Date.now())) return { found: null, previous: entry }
    const staleAt = this.#revalidations.staleAt(origin)
    const { value, cacheControl, lastModified } = entry
    const found: Found = {
      value: value as NonNullable<Found['value']> | null,
      // Next compares this with the time at which a tag went stale.
      lastModified: staleAt === undefined ? lastModified : Math.min(lastModified, staleAt - 1),
      ...(cacheControl !== undefined && { cacheControl }),
      ...this.#versionOf(key, version),
    }
    return { found, previous: entry }
  }

  /** Returns a unique position in the log, after all renderings that have begun. */
  async mark(): Promise<number> {
    await this.#log.append({ by: this.#processId })
    return this.position
  }

  /** Notifies all processes that a page is regenerated on demand. Renderings that began before `since` are expired. */
  async regenerate(key: string, since: number): Promise<void> {
    await this.#log.append({ by: this.#processId, page: key, since })
  }

  /**
   * Stores an entry. Returns false for an entry with old data, because one of its tags was revalidated since rendering
   * began.
   */
  async store(
    key: string,
    value: unknown,
    tags: readonly string[],
    cacheControl: Lifetime | undefined,
    { since, at, previous }: Rendering,
    isOnDemand: boolean,
  ): Promise<boolean> {
    const lastModified = Date.now()
    // Rendering has failed: Next serves the previous entry for some time.
    const isRetained = previous !== undefined && value === previous.value
    const entry: Entry = {
      key,
      renderId: isRetained ? previous.renderId : randomUUID(),
      since: isRetained ? previous.since : since,
      begunAt: isRetained ? previous.begunAt : at,
      lastModified,
      cacheControl,
      value,
    }
    const stored = (await this.#entries.read(key))?.entry
    await this.sync()
    if (entry.since > this.position) return false
    if (this.#revalidations.affects({ key, tags, since: entry.since }, lastModified)) return false
    // Before the write, so that an older rendering that is stored later is expired.
    if (isOnDemand && !isRetained) await this.regenerate(key, since)
    if (stored !== undefined && (isRetained ? stored.renderId !== previous.renderId : isNewer(stored, entry))) {
      return false
    }
    await this.#entries.write(key, entry)
    return true
  }

  /** Revalidates tags in all processes. When it resolves, no process serves an entry with one of them. */
  revalidate(tags: readonly string[], durations: { readonly expire?: number } | undefined): Promise<void> {
    const what = JSON.stringify([tags, durations ?? null])
    let revalidating = this.#revalidating.get(what)
    if (revalidating === undefined) {
      revalidating = this.#append(tags, durations)
      this.#revalidating.set(what, revalidating)
      queueMicrotask(() => this.#revalidating.delete(what))
    }
    return revalidating
  }

  changed(change: Change, position: number): void {
    this.#revalidations.add(change, position)
    this.#history.add(position)
    const { by, tags = [], at = 0, stale = false, expireAt, page } = change
    // Next's handler has done this for changes of this process.
    if (by === this.#processId) return
    if (page !== undefined) notifyReplaced(page)
    if (tags.length === 0) return
    this.#addRevalidatedTags(tags, at, stale, expireAt ?? Infinity)
    notifyRevalidated(tags, expireAt)
  }

  lost(position: number): void {
    this.#revalidations.forget(position)
    this.#history.add(position)
    this.#copies?.clear()
    notifyLost()
  }

  close(): void {
    this.#log.close()
  }

  async #append(tags: readonly string[], durations: { readonly expire?: number } | undefined): Promise<void> {
    const at = Date.now()
    const expire = durations?.expire
    await this.#log.append({
      by: this.#processId,
      tags,
      at,
      ...(durations !== undefined && { stale: true }),
      ...(expire !== undefined && { expireAt: at + expire * 1000 }),
    })
  }

  async #read(
    key: string,
    version: string | typeof UNKNOWN | undefined,
    seed: () => Promise<Found | null>,
  ): Promise<Entry | undefined> {
    if (version === UNKNOWN) {
      const read = await this.#entries.read(key)
      return read === undefined ? this.#copied(key, undefined, () => seeded(key, seed)) : read.entry
    }
    return this.#copied(key, version, () => (version === undefined ? seeded(key, seed) : this.#entries.read(key)))
  }

  /** Returns the copy of that version, or reads the entry. */
  async #copied(
    key: string,
    version: string | undefined,
    read: () => Promise<{ entry: Entry; bytes?: number } | undefined>,
  ): Promise<Entry | undefined> {
    const copy = this.#copies?.get(key)
    if (copy !== undefined && copy.version === version) return copy.entry
    const found = await read()
    if (found === undefined) return undefined
    const { entry, bytes = serialize(entry.value).length } = found
    this.#copies?.set(key, { version, entry }, { size: bytes })
    return entry
  }

  #versionOf(key: string, version: string | typeof UNKNOWN | undefined): Pick<Found, 'version'> {
    const found = this.#entries.version(key, version)
    return found === undefined ? {} : { version: found }
  }
}

/** Reads the entry of the build, which is older than all revalidations. */
async function seeded(
  key: string,
  seed: () => Promise<Found | null>,
): Promise<{ entry: Entry; bytes?: number } | undefined> {
  const found = await seed()
  if (found === null) return undefined
  const { lastModified = 0, cacheControl, value } = found
  return { entry: { key, renderId: 'build', since: FIRST_POSITION, begunAt: 0, lastModified, cacheControl, value } }
}

/** Whether the rendering of an entry began after that of another one, unless the clock was set back. */
function isNewer(entry: Entry, other: Entry): boolean {
  if (entry.since !== other.since) return entry.since > other.since
  return entry.begunAt > other.begunAt && entry.begunAt <= other.lastModified
}
