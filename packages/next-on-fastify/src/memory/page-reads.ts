// What Next reads from its cache of pages while it makes an answer, and when it changes what is there. Next asks for a
// cache handler by a public interface (`get`, `set`, `revalidateTag`); one that passes all calls on sees all of that.

import { AsyncLocalStorage } from 'node:async_hooks'

/** How long an entry of Next's cache is fresh, and how long it may be shown at all: seconds. */
export interface Lifetime {
  readonly revalidate?: number | false | undefined
  readonly expire?: number | undefined
}

/** An entry of Next's cache that was read while a request was answered. */
export interface PageRead {
  readonly key: string
  /** Of pages and of route handlers, and not of data that a page fetches. */
  readonly ofPage: boolean
  /** A page of which a part is made for each request. */
  readonly partial: boolean
  readonly lastModified: number | undefined
  readonly lifetime: Lifetime | undefined
  readonly tags: readonly string[]
}

/** What changes in Next's cache. */
export interface CacheChanges {
  /** A page was made anew, or is about to be. */
  replaced(key: string): void
  /** All with one of the tags are stale, or are about to be; and at `expireAt` nobody may see them any more. */
  revalidated(tags: readonly string[], expireAt: number | undefined): void
}

interface Context {
  readonly kind?: string
  readonly isFallback?: boolean
  readonly cacheControl?: Lifetime
}

interface Found {
  readonly lastModified?: number
  readonly cacheControl?: Lifetime
  readonly value?: {
    readonly kind?: string
    readonly postponed?: unknown
    readonly headers?: Readonly<Record<string, unknown>>
  } | null
}

/** What Next demands of a cache handler. */
interface CacheHandler {
  get(key: string, context: Context): Promise<Found | null>
  set(key: string, value: { kind?: string } | null, context: Context): Promise<void>
  revalidateTag(tags: string | readonly string[], durations?: { expire?: number }): Promise<void>
  resetRequestCache?(): void
}

export type CacheHandlerClass = new (options: unknown) => CacheHandler

const PAGE_KINDS = new Set(['APP_PAGE', 'APP_ROUTE', 'PAGES'])
const MOST_LIFETIMES = 10_000

const current = new AsyncLocalStorage<PageRead[]>()
const listeners = new Set<CacheChanges>()

/** Runs what answers a request, and gathers in `reads` what Next reads for it. */
export function gatherReads<T>(reads: PageRead[], answer: () => T): T {
  return current.run(reads, answer)
}

/** Tells of all changes from now on, until the function that it returns is called. */
export function onCacheChange(listener: CacheChanges): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** A class of cache handlers that does what another one does, and tells of it. */
export function observed(Handler: CacheHandlerClass): CacheHandlerClass {
  // An older Next does not give back with an entry the lifetime that it was stored with.
  const lifetimes = new Map<string, Lifetime>()

  return class implements CacheHandler {
    readonly #inner: CacheHandler

    constructor(options: unknown) {
      this.#inner = new Handler(options)
    }

    async get(key: string, context: Context): Promise<Found | null> {
      const reads = current.getStore()
      const found = await this.#inner.get(key, context)
      reads?.push(read(key, context, found, lifetimes.get(key)))
      return found
    }

    async set(key: string, value: { kind?: string } | null, context: Context): Promise<void> {
      // Pages that are not there have no value.
      const ofPage = value === null || PAGE_KINDS.has(value.kind ?? '')
      if (!ofPage) return this.#inner.set(key, value, context)
      for (const listener of listeners) listener.replaced(key)
      lifetimes.delete(key)
      if (context.cacheControl !== undefined) lifetimes.set(key, context.cacheControl)
      for (const oldest of lifetimes.keys()) {
        if (lifetimes.size <= MOST_LIFETIMES) break
        lifetimes.delete(oldest)
      }
      try {
        await this.#inner.set(key, value, context)
      } finally {
        // One that was read while it was written may have been the old one.
        for (const listener of listeners) listener.replaced(key)
      }
    }

    async revalidateTag(tags: string | readonly string[], durations?: { expire?: number }): Promise<void> {
      const all = typeof tags === 'string' ? [tags] : tags
      const expire = durations?.expire
      const expireAt = expire === undefined ? undefined : Date.now() + expire * 1000
      for (const listener of listeners) listener.revalidated(all, expireAt)
      try {
        await this.#inner.revalidateTag(tags, durations)
      } finally {
        for (const listener of listeners) listener.revalidated(all, expireAt)
      }
    }

    resetRequestCache(): void {
      this.#inner.resetRequestCache?.()
    }
  }
}

function read(key: string, context: Context, found: Found | null, stored: Lifetime | undefined): PageRead {
  const value = found?.value
  const tags = value?.headers?.['x-next-cache-tags']
  return {
    key,
    ofPage: PAGE_KINDS.has(value?.kind ?? ''),
    partial: context.isFallback === true || (value?.postponed !== undefined && value.postponed !== null),
    lastModified: found?.lastModified,
    lifetime: found?.cacheControl ?? stored,
    tags: typeof tags === 'string' ? tags.split(',') : [],
  }
}
