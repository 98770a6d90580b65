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
  /** Where other processes may replace it: the one that was read. */
  readonly version: Version | undefined
}

/** What was read of a cache that others write to. */
export interface Version {
  /** Whether it is there still. */
  isCurrent(): boolean
}

/** What changes in Next's cache. */
export interface CacheChanges {
  /**
   * A page was made anew, or is about to be: then `by` is what was read for the request that has it made, if there is one. As
   * long as that is not done, Next gives others what it gave this one.
   */
  replaced(key: string, by?: readonly PageRead[]): void
  /** All with one of the tags are stale, or are about to be; and at `expireAt` nobody may see them any more. */
  revalidated(tags: readonly string[], expireAt: number | undefined): void
  /** Nobody knows what has changed. */
  lost(): void
}

/** What Next says of an entry that it asks for, or stores. */
export interface Context {
  readonly kind?: string
  readonly fetchCache?: boolean
  readonly tags?: readonly string[]
  readonly softTags?: readonly string[]
  readonly isFallback?: boolean
  readonly cacheControl?: Lifetime
}

/** An entry as a cache handler gives it to Next. */
export interface Found {
  readonly lastModified?: number
  readonly cacheControl?: Lifetime
  readonly version?: Version
  readonly value?: {
    readonly kind?: string
    readonly postponed?: unknown
    readonly headers?: Readonly<Record<string, unknown>>
  } | null
}

/** What Next demands of a cache handler. */
export interface CacheHandler {
  get(key: string, context: Context): Promise<Found | null>
  set(key: string, value: { kind?: string } | null, context: Context): Promise<void>
  revalidateTag(tags: string | readonly string[], durations?: { expire?: number }): Promise<void>
  resetRequestCache?(): void
}

export type CacheHandlerClass = new (options: unknown) => CacheHandler

/** Kinds of entries that are whole answers. */
export const PAGE_KINDS: ReadonlySet<string> = new Set(['APP_PAGE', 'APP_ROUTE', 'PAGES'])
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

/** Tells that a page was made anew, by another process too, or is about to be: see {@link CacheChanges.replaced}. */
export function tellReplaced(key: string, by?: readonly PageRead[]): void {
  for (const listener of listeners) listener.replaced(key, by)
}

/** Tells that another process has revalidated tags. */
export function tellRevalidated(tags: readonly string[], expireAt: number | undefined): void {
  for (const listener of listeners) listener.revalidated(tags, expireAt)
}

/** Tells that nobody knows what other processes have changed. */
export function tellLost(): void {
  for (const listener of listeners) listener.lost()
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
      tellReplaced(key, current.getStore())
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
        tellReplaced(key)
      }
    }

    async revalidateTag(tags: string | readonly string[], durations?: { expire?: number }): Promise<void> {
      const all = typeof tags === 'string' ? [tags] : tags
      const expire = durations?.expire
      const expireAt = expire === undefined ? undefined : Date.now() + expire * 1000
      tellRevalidated(all, expireAt)
      try {
        await this.#inner.revalidateTag(tags, durations)
      } finally {
        tellRevalidated(all, expireAt)
      }
    }

    resetRequestCache(): void {
      this.#inner.resetRequestCache?.()
    }
  }
}

function read(key: string, context: Context, found: Found | null, stored: Lifetime | undefined): PageRead {
  const value = found?.value
  return {
    key,
    ofPage: PAGE_KINDS.has(value?.kind ?? ''),
    partial: context.isFallback === true || (value?.postponed !== undefined && value.postponed !== null),
    lastModified: found?.lastModified,
    lifetime: found?.cacheControl ?? stored,
    tags: pageTags(value),
    version: found?.version,
  }
}

/** The tags of a page or a route handler. */
export function pageTags(value: Found['value']): readonly string[] {
  const tags = value?.headers?.['x-next-cache-tags']
  return typeof tags === 'string' ? tags.split(',') : []
}
