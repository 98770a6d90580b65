// The cached responses of one app, by key.

import { LRUCache } from 'lru-cache'
import { isUnchanged } from './source-file.ts'
import { notModifiedKey, type RequestKey } from './key.ts'
import type { CacheMeta } from './policy.ts'
import type { RecordedResponse } from './recorder.ts'
import { readyResponse, type ReadyResponse } from './ready-response.ts'

/** A cached response. */
export interface Entry extends ReadyResponse, CacheMeta {
  /** The same response, compressed by brotli. */
  readonly brotli?: ReadyResponse
  /** The route for the span of the request. */
  readonly route?: string | undefined
}

/** Size of an entry besides its body and key, in bytes. See docs/measurements.md#entry-size */
const ENTRY_OVERHEAD = 1024

/** Stores responses, and finds those that are fresh. */
export class ResponseStore {
  readonly #entries: LRUCache<string, Entry>
  /** The key of the last stale entry that was found. */
  #lastStale: string | undefined

  constructor(maxEntries: number, maxBytes: number) {
    this.#entries = new LRUCache({
      max: maxEntries,
      maxSize: maxBytes,
      sizeCalculation: ({ body, brotli }, key) =>
        body.length + (brotli?.body.length ?? 0) + key.length + ENTRY_OVERHEAD,
    })
  }

  /** Number of responses. */
  get entries(): number {
    return this.#entries.size
  }

  /** Size of all responses, in bytes. */
  get bytes(): number {
    return this.#entries.calculatedSize
  }

  /** A fresh response for a request: a 304 if its condition holds. */
  find({ key, etag }: RequestKey): Entry | undefined {
    if (etag === undefined) return this.fresh(key)
    const notModified = this.fresh(notModifiedKey(key, etag))
    if (notModified !== undefined) return notModified
    const entry = this.fresh(key)
    return entry?.etag === undefined || withoutWeakMark(entry.etag) === etag ? undefined : entry
  }

  /** A fresh response by its key. */
  fresh(key: string): Entry | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    const { until, file, page } = entry
    const isCurrent = file === undefined ? (page?.version?.isCurrent() ?? true) : isUnchanged(file)
    if (isCurrent && until >= Date.now()) return entry
    this.#entries.delete(key)
    this.#lastStale = key
    return undefined
  }

  /** Whether the last stale entry was for this request. Call it in the same tick as `find`. */
  wasStale({ key, etag }: RequestKey): boolean {
    return this.#lastStale === key || (etag !== undefined && this.#lastStale === notModifiedKey(key, etag))
  }

  set(key: string, entry: Entry): void {
    this.#entries.set(key, entry)
  }

  /** Adds the brotli response to an entry, unless that was replaced meanwhile. */
  addBrotli(key: string, entry: Entry, compressed: RecordedResponse): void {
    if (this.#entries.peek(key) === entry) this.#entries.set(key, { ...entry, brotli: readyResponse(compressed) })
  }

  /** Deletes entries, and returns their number. */
  deleteIf(isInvalid: (entry: Entry) => boolean): number {
    let deleted = 0
    for (const [key, entry] of this.#entries.entries()) {
      if (isInvalid(entry) && this.#entries.delete(key)) deleted++
    }
    return deleted
  }

  clear(): void {
    this.#entries.clear()
  }
}

/** An entity tag without the mark of a weak one. */
export function withoutWeakMark(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag
}
