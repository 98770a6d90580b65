// The cache of `'use cache'` for all processes, by Next's public interface. Whether tags have changed is decided by positions
// in the log, as for pages. An entry is served as long as Next's own handler would serve it.

import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { UseCacheEntry, UseCacheHandler } from '../next/use-cache/use-cache-handler.ts'
import type { Availability } from './outage-log.ts'
import { now } from './position-history.ts'
import type { SharedCache } from './shared-cache.ts'
import { type Entries, type Entry, UNKNOWN } from './store-contract.ts'

/** What is stored of an entry. */
interface Stored extends Omit<UseCacheEntry, 'value'> {
  readonly bytes: Uint8Array
  /** Hash of the bytes, so that a damaged entry is missing. */
  readonly digest: string
  readonly since: number
}

interface Copy {
  readonly version: string
  readonly stored: Stored
}

/** Where entries are stored. */
export interface UseCacheStore {
  readonly entries: Entries
  readonly maxEntryBytes: number
}

/** A copy takes this many bytes more than its value. */
const COPY_OVERHEAD = 1024

/** A handler whose entries all processes have. */
export class SharedUseCache implements UseCacheHandler {
  readonly #cache: SharedCache
  readonly #entries: Entries
  readonly #storing: Availability
  readonly #maxEntryBytes: number
  readonly #copies: LRUCache<string, Copy> | undefined
  /** Entries of this process that are being stored. */
  readonly #pending = new Map<string, Promise<void>>()
  /** Whether revalidations of other processes are known. */
  #isCurrent = true

  /** @param copyBytes - maximum size of all copies in this process */
  constructor(cache: SharedCache, { entries, maxEntryBytes }: UseCacheStore, storing: Availability, copyBytes: number) {
    this.#cache = cache
    this.#entries = entries
    this.#storing = storing
    this.#maxEntryBytes = maxEntryBytes
    this.#copies = copyBytes > 0 ? new LRUCache({ maxSize: copyBytes }) : undefined
  }

  async get(key: string, softTags: string[]): Promise<UseCacheEntry | undefined> {
    await this.#pending.get(key)
    // With unknown revalidations, Next generates the entry again.
    const stored = this.#isCurrent ? await this.#read(key).catch(() => undefined) : undefined
    if (stored === undefined) return undefined
    const { bytes, digest: _, since, ...entry } = stored
    if (now() > entry.timestamp + entry.revalidate * 1000) return undefined
    const origin = { key, tags: [...entry.tags, ...softTags], since }
    if (this.#cache.isExpired(origin)) return undefined
    const isStale = this.#cache.isStale({ ...origin, tags: entry.tags })
    // Next serves it once more, and generates it in the background.
    return { ...entry, tags: [...entry.tags], ...(isStale && { revalidate: -1 }), value: streamOf(bytes) }
  }

  async set(key: string, pending: Promise<UseCacheEntry>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#pending.set(key, promise)
    try {
      await this.#store(key, await pending)
    } finally {
      resolve()
      if (this.#pending.get(key) === promise) this.#pending.delete(key)
    }
  }

  async refreshTags(): Promise<void> {
    try {
      await this.#cache.sync()
      this.#isCurrent = true
    } catch {
      // The step before each request logs it.
      this.#isCurrent = false
    }
  }

  /** Next passes the tags to `get` then. Times of several processes cannot be compared. */
  async getExpiration(): Promise<number> {
    return Infinity
  }

  async updateTags(tags: string[], durations?: { expire?: number }): Promise<void> {
    if (tags.length > 0) await this.#cache.revalidate(tags, durations)
  }

  async #store(key: string, { value, ...entry }: UseCacheEntry): Promise<void> {
    // Next generates such an entry for each request.
    if (entry.expire === 0) return value.cancel()
    const bytes = await bytesOf(value)
    if (bytes === undefined || bytes.length > this.#maxEntryBytes) return
    const since = this.#cache.positionAt(entry.timestamp)
    const stored: Stored = { ...entry, bytes, digest: digestOf(bytes), since }
    try {
      await this.#entries.write(key, entryOf(key, stored))
      this.#storing.works()
    } catch (error) {
      this.#storing.fails(error)
    }
  }

  async #read(key: string): Promise<Stored | undefined> {
    const version = this.#entries.versionOf(key)
    if (version === undefined) return undefined
    const copy = this.#copies?.get(key)
    if (copy !== undefined && copy.version === version) return copy.stored
    const read = await this.#entries.read(key)
    const stored = read && storedIn(key, read.entry)
    if (stored === undefined || version === UNKNOWN) return stored
    this.#copies?.set(key, { version, stored }, { size: stored.bytes.length + key.length + COPY_OVERHEAD })
    return stored
  }
}

/** The entry of a store. It may be removed when Next's own handler would no longer serve it. */
function entryOf(key: string, stored: Stored): Entry {
  const { digest, since, timestamp, revalidate } = stored
  const cacheControl = { revalidate, expire: revalidate }
  return { key, renderId: digest, since, begunAt: timestamp, lastModified: Date.now(), cacheControl, value: stored }
}

/** What was stored, unless it is damaged or of another key. */
function storedIn(key: string, { key: found, value }: Entry): Stored | undefined {
  const { bytes, digest, tags, ...numbers } = value as Stored
  const isWhole =
    found === key &&
    bytes instanceof Uint8Array &&
    digest === digestOf(bytes) &&
    Array.isArray(tags) &&
    tags.every((tag) => typeof tag === 'string') &&
    [numbers.stale, numbers.timestamp, numbers.expire, numbers.revalidate, numbers.since].every(Number.isFinite)
  return isWhole ? (value as Stored) : undefined
}

function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes)
}

/** All bytes of a stream, or undefined if it fails: a part of an entry must not be stored. */
async function bytesOf(value: ReadableStream<Uint8Array>): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of value) chunks.push(chunk)
  } catch {
    return undefined
  }
  return Buffer.concat(chunks)
}

/** A new stream for each reader. */
function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      if (bytes.length > 0) controller.enqueue(new Uint8Array(bytes))
      controller.close()
    },
  })
}
