// Records the reads and changes of Next's page cache, by a cache handler that passes all calls on.

import { AsyncLocalStorage } from 'node:async_hooks'
import { LRUCache } from 'lru-cache'
import { endResponseAfter } from '../../http/delayed-end.ts'
import { type PageRead, notifyReplaced, notifyRevalidated } from './cache-events.ts'
import {
  type CacheHandler,
  type CacheHandlerClass,
  type Context,
  type Found,
  type Lifetime,
  PAGE_KINDS,
  pageTags,
} from './cache-handler-types.ts'
import { announcePage, announceTags, isAnnounced } from './own-revalidations.ts'
import { addTagsRead, addTagsStored } from './request-tags.ts'

/** The header of requests that regenerate a page on demand. */
const ON_DEMAND = 'x-prerender-revalidate'

interface HandlerOptions {
  readonly _requestHeaders?: Readonly<Record<string, unknown>>
}

/** Maximum lifetimes that are kept for older versions of Next. */
const MAX_LIFETIMES = 10_000

const current = new AsyncLocalStorage<PageRead[]>()

/** Runs Next for a request, and appends what it reads from its cache to `reads`. */
export function recordReads<T>(reads: PageRead[], run: () => T): T {
  return current.run(reads, run)
}

/** Wraps a cache handler class, and notifies listeners of its changes. */
export function observedHandler(Handler: CacheHandlerClass): CacheHandlerClass {
  // Older versions of Next don't return the lifetime that an entry was stored with.
  const lifetimes = new LRUCache<string, Lifetime>({ max: MAX_LIFETIMES })
  return class extends ObservedHandler {
    constructor(options: unknown) {
      const { _requestHeaders = {} } = options as HandlerOptions
      super(new Handler(options), lifetimes, _requestHeaders[ON_DEMAND])
    }
  }
}

class ObservedHandler implements CacheHandler {
  readonly #inner: CacheHandler
  readonly #lifetimes: LRUCache<string, Lifetime>
  /** Whatever the client has sent as the secret for a regeneration on demand. */
  readonly #secret: unknown

  constructor(inner: CacheHandler, lifetimes: LRUCache<string, Lifetime>, secret: unknown) {
    this.#inner = inner
    this.#lifetimes = lifetimes
    this.#secret = secret
  }

  async get(key: string, context: Context): Promise<Found | null> {
    const reads = current.getStore()
    const found = await this.#inner.get(key, context)
    reads?.push(readOf(key, context, found, this.#lifetimes.get(key)))
    if (this.#secret === undefined) addTagsRead(key, context, found)
    return found
  }

  async set(key: string, value: { kind?: string } | null, context: Context): Promise<void> {
    // A missing page is stored as null.
    const isPage = value === null || PAGE_KINDS.has(value.kind ?? '')
    if (!isPage) return this.#inner.set(key, value, context)
    if (this.#secret === undefined) addTagsStored(value)
    notifyReplaced(key, current.getStore())
    if (context.cacheControl === undefined) this.#lifetimes.delete(key)
    else this.#lifetimes.set(key, context.cacheControl)
    try {
      await this.#inner.set(key, value, context)
    } finally {
      // A read during the write may have returned the old entry.
      notifyReplaced(key)
    }
    if (this.#secret !== undefined) await announcePage(key, this.#secret)
  }

  revalidateTag(tags: string | readonly string[], durations?: { expire?: number }): Promise<void> {
    const all = typeof tags === 'string' ? [tags] : tags
    const revalidated = this.#revalidate(all, tags, durations)
    if (!isAnnounced() || all.length === 0) return revalidated
    const announced = revalidated.then(() => announceTags(all))
    endResponseAfter(announced)
    return announced
  }

  async #revalidate(
    all: readonly string[],
    tags: string | readonly string[],
    durations: { expire?: number } | undefined,
  ): Promise<void> {
    const expire = durations?.expire
    const expireAt = expire === undefined ? undefined : Date.now() + expire * 1000
    notifyRevalidated(all, expireAt)
    try {
      await this.#inner.revalidateTag(tags, durations)
    } finally {
      notifyRevalidated(all, expireAt)
    }
  }

  resetRequestCache(): void {
    this.#inner.resetRequestCache?.()
  }
}

function readOf(key: string, context: Context, found: Found | null, stored: Lifetime | undefined): PageRead {
  const value = found?.value
  return {
    key,
    isPage: PAGE_KINDS.has(value?.kind ?? ''),
    isPartial: context.isFallback === true || (value?.postponed !== undefined && value.postponed !== null),
    lastModified: found?.lastModified,
    lifetime: found?.cacheControl ?? stored,
    tags: pageTags(value),
    version: found?.version,
  }
}
