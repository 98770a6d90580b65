// One cache of pages and data for all processes that serve the same build.

import { randomUUID } from 'node:crypto'
import { serialize } from 'node:v8'
import { LRUCache } from 'lru-cache'
import { tellLost, tellReplaced, tellRevalidated, type Found, type Lifetime } from '../next/page-reads.ts'
import { FIRST_POSITION, type Change, type ChangeReader, type Changes } from './files/change-log.ts'
import { UNTOLD, type Entries, type Entry } from './files/entry-folder.ts'
import type { TellNext } from '../next/revalidated-tags.ts'
import { Revalidations } from './revalidations.ts'

/** What is known of an entry when its making begins. */
export interface Beginning {
  readonly since: number
  readonly at: number
  /** Tags of data that a page fetches, which are not told again when it is stored. */
  readonly tags: readonly string[]
  /** What was there: an entry that cannot be made anew is stored once more as it was. */
  readonly before: Entry | undefined
}

/** Where a cache is: all that processes share. */
export interface Store {
  readonly changes: Changes
  readonly entries: Entries
}

/** An entry as it was read from a file, or from what the build has made where there is no file. */
interface Copy {
  readonly version: string | undefined
  readonly entry: Entry
}

/** Cache of one app. */
export class SharedCache implements ChangeReader {
  readonly #log: Changes
  readonly #entries: Entries
  readonly #revalidations = new Revalidations()
  readonly #tellNext: TellNext
  readonly #me: string = randomUUID()
  /** Entries that need not be read again while they are the same. */
  #copies: LRUCache<string, Copy> | undefined

  /** @param open - opens what all processes of this build share, and tells its changes */
  constructor(open: (reader: ChangeReader) => Store, tellNext: TellNext) {
    this.#tellNext = tellNext
    const { changes, entries } = open(this)
    this.#log = changes
    this.#entries = entries
  }

  /** Takes note of all that any process has revalidated before now. */
  sync(): void | Promise<void> {
    return this.#log.read()
  }

  get position(): number {
    return this.#log.position
  }

  /** Keeps copies of entries in this process, of so many bytes. */
  keepCopies(bytes: number): void {
    if (bytes > 0) this.#copies ??= new LRUCache({ maxSize: bytes })
  }

  /** An entry that may be shown; `seed` reads what the build has made. */
  async find(
    key: string,
    tagsOf: (value: unknown) => readonly string[],
    seed: () => Promise<Found | null>,
  ): Promise<{ readonly found: Found | null; readonly before: Entry | undefined }> {
    const version = this.#entries.versionOf(key)
    const entry = await this.#read(key, version, seed)
    if (entry === undefined) return { found: null, before: undefined }
    // Something may have been revalidated while it was read.
    await this.sync()
    const made = { key, tags: tagsOf(entry.value), since: entry.since }
    if (this.#revalidations.isExpired(made, Date.now())) return { found: null, before: entry }
    const staleAt = this.#revalidations.staleAt(made)
    const { value, cacheControl, lastModified } = entry
    const found: Found = {
      value: value as NonNullable<Found['value']> | null,
      // Next compares it with the time at which a tag went stale.
      lastModified: staleAt === undefined ? lastModified : Math.min(lastModified, staleAt - 1),
      ...(cacheControl !== undefined && { cacheControl }),
      ...this.#versionOf(key, version),
    }
    return { found, before: entry }
  }

  /** A place in the log that nothing else has, after all that was begun so far. */
  async mark(): Promise<number> {
    await this.#log.append({ by: this.#me })
    return this.position
  }

  /** Tells all processes that a page is made anew on demand: what was begun before `since` is not shown any more. */
  async demand(key: string, since: number): Promise<void> {
    await this.#log.append({ by: this.#me, page: key, since })
  }

  /**
   * Stores an entry, and says whether it did: what something was revalidated of since it was begun is made of old data, and
   * nobody gets to see it again.
   */
  async store(
    key: string,
    value: unknown,
    tags: readonly string[],
    cacheControl: Lifetime | undefined,
    { since, at, before }: Beginning,
    onDemand: boolean,
  ): Promise<boolean> {
    const lastModified = Date.now()
    // It could not be made anew, and stays for a while.
    const retained = before !== undefined && value === before.value
    const entry: Entry = {
      key,
      making: retained ? before.making : randomUUID(),
      since: retained ? before.since : since,
      begunAt: retained ? before.begunAt : at,
      lastModified,
      cacheControl,
      value,
    }
    const there = (await this.#entries.read(key))?.entry
    await this.sync()
    if (entry.since > this.position) return false
    if (this.#revalidations.haveTouched({ key, tags, since: entry.since }, lastModified)) return false
    // Before it is written: what was begun earlier and is about to be written after it is not shown then.
    if (onDemand && !retained) await this.demand(key, since)
    if (there !== undefined && (retained ? there.making !== before.making : isNewer(there, entry))) return false
    await this.#entries.write(key, entry)
    return true
  }

  /** Tells all processes that tags were revalidated: when it returns, none of them shows what has one of them. */
  async revalidate(tags: readonly string[], durations: { readonly expire?: number } | undefined): Promise<void> {
    const at = Date.now()
    const expire = durations?.expire
    await this.#log.append({
      by: this.#me,
      tags,
      at,
      ...(durations !== undefined && { stale: true }),
      ...(expire !== undefined && { expireAt: at + expire * 1000 }),
    })
  }

  changed(change: Change, position: number): void {
    this.#revalidations.add(change, position)
    const { by, tags = [], at = 0, stale = false, expireAt, page } = change
    // Who has revalidated something tells its own Next and its own memory.
    if (by === this.#me) return
    if (page !== undefined) tellReplaced(page)
    if (tags.length === 0) return
    this.#tellNext(tags, at, stale, expireAt ?? Infinity)
    tellRevalidated(tags, expireAt)
  }

  lost(position: number): void {
    this.#revalidations.forget(position)
    this.#copies?.clear()
    tellLost()
  }

  close(): void {
    this.#log.close()
  }

  async #read(
    key: string,
    version: string | typeof UNTOLD | undefined,
    seed: () => Promise<Found | null>,
  ): Promise<Entry | undefined> {
    if (version === UNTOLD) {
      const read = await this.#entries.read(key)
      return read === undefined ? this.#copied(key, undefined, () => seeded(key, seed)) : read.entry
    }
    return this.#copied(key, version, () => (version === undefined ? seeded(key, seed) : this.#entries.read(key)))
  }

  /** A copy of that version, or what is read then. */
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

  #versionOf(key: string, version: string | typeof UNTOLD | undefined): Pick<Found, 'version'> {
    const found = this.#entries.version(key, version)
    return found === undefined ? {} : { version: found }
  }
}

/** What the build has made, before all that was revalidated. */
async function seeded(
  key: string,
  seed: () => Promise<Found | null>,
): Promise<{ entry: Entry; bytes?: number } | undefined> {
  const found = await seed()
  if (found === null) return undefined
  const { lastModified = 0, cacheControl, value } = found
  return { entry: { key, making: 'build', since: FIRST_POSITION, begunAt: 0, lastModified, cacheControl, value } }
}

/** Whether the making of an entry was begun after that of another one, unless the clock was set back since. */
function isNewer(entry: Entry, other: Entry): boolean {
  if (entry.since !== other.since) return entry.since > other.since
  return entry.begunAt > other.begunAt && entry.begunAt <= other.lastModified
}
