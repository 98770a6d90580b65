// The cache handler of an app whose cache is shared, on the interface that Next has for it.

import {
  pageTags,
  PAGE_KINDS,
  type CacheHandler,
  type CacheHandlerClass,
  type Context,
  type Found,
} from '../next/page-reads.ts'
import { beginPage, endAfter, endJoined, isPending, type PendingPage } from './pending-pages.ts'
import type { Beginning, SharedCache } from './shared-cache.ts'

/** A cache, and how to know a request by which a page is made anew on demand. */
export interface Sharing {
  readonly cache: SharedCache
  /** What `x-prerender-revalidate` says there, and nobody else knows. */
  readonly onDemand: string
}

interface HandlerOptions {
  readonly serverDistDir?: string
  readonly maxMemoryCacheSize?: number
  readonly _requestHeaders?: Readonly<Record<string, unknown>>
}

type Value = Parameters<CacheHandler['set']>[1]

/** A class of cache handlers that shares the caches of some apps; for others it is the class that it is given. */
export function sharing(
  Handler: CacheHandlerClass,
  sharingOf: (serverDistDir: string) => Sharing | undefined,
): CacheHandlerClass {
  return class implements CacheHandler {
    /** Next's own: it knows what the build has made. */
    readonly #inner: CacheHandler
    readonly #shared: SharedHandler | undefined

    constructor(options: unknown) {
      const { serverDistDir = '', maxMemoryCacheSize = 0, _requestHeaders = {} } = options as HandlerOptions
      const found = sharingOf(serverDistDir)
      // What it keeps in memory others could not take away.
      this.#inner = new Handler(found === undefined ? options : { ...(options as object), maxMemoryCacheSize: 0 })
      if (found === undefined) return
      found.cache.keepCopies(maxMemoryCacheSize)
      const onDemand = _requestHeaders['x-prerender-revalidate'] === found.onDemand
      this.#shared = new SharedHandler(found.cache, this.#inner, onDemand)
    }

    async get(key: string, context: Context): Promise<Found | null> {
      return (this.#shared ?? this.#inner).get(key, context)
    }

    async set(key: string, value: Value, context: Context): Promise<void> {
      return (this.#shared ?? this.#inner).set(key, value, context)
    }

    async revalidateTag(tags: string | readonly string[], durations?: { expire?: number }): Promise<void> {
      return (this.#shared ?? this.#inner).revalidateTag(tags, durations)
    }

    resetRequestCache(): void {
      this.#inner.resetRequestCache?.()
    }
  }
}

/** The handler of one request: Next makes one for each. */
class SharedHandler implements CacheHandler {
  readonly #cache: SharedCache
  readonly #inner: CacheHandler
  readonly #onDemand: boolean
  /** When and from what the making of each entry began. */
  readonly #begun = new Map<string, Beginning>()
  readonly #pending = new Map<string, PendingPage>()
  readonly #first: Beginning

  constructor(cache: SharedCache, inner: CacheHandler, onDemand: boolean) {
    this.#cache = cache
    this.#inner = inner
    this.#onDemand = onDemand
    this.#first = { since: cache.position, at: Date.now(), tags: [], before: undefined }
  }

  async get(key: string, context: Context): Promise<Found | null> {
    const { kind = '', tags = [], softTags = [] } = context
    const ofPage = PAGE_KINDS.has(kind)
    const asked = [...tags, ...softTags]
    try {
      await this.#cache.sync()
      const since = this.#onDemand && ofPage ? await this.#cache.mark() : this.#cache.position
      const at = Date.now()
      // Next may take for it what is being made, which is older: then that is not to be kept.
      if (this.#onDemand && ofPage && isPending(key)) await this.#cache.demand(key, since)
      if (ofPage) this.#pending.set(key, beginPage(key, since))
      const tagsOf = ofPage ? (value: unknown) => pageTags(value as Found['value']) : () => asked
      const { found, before } = await this.#cache.find(key, tagsOf, () => this.#inner.get(key, context))
      this.#begun.set(key, { since, at, tags: asked, before })
      return found
    } catch (error) {
      // What nobody can say was revalidated is made anew; what is made on demand must not be forgotten.
      if (this.#onDemand && ofPage) throw error
      return null
    }
  }

  async set(key: string, value: Value, context: Context): Promise<void> {
    const ofPage = context.fetchCache !== true
    const begun = this.#begun.get(key) ?? this.#first
    const own = ofPage ? pageTags(value) : (context.tags ?? [])
    const tags = [...new Set([...own, ...begun.tags])]
    const page = this.#pending.get(key)
    if (page !== undefined) page.isStored = true
    try {
      const stored = await this.#cache.store(key, value, tags, context.cacheControl, begun, this.#onDemand && ofPage)
      // Data outlives a build: the next one reads what Next has written.
      if (stored && !ofPage) await this.#inner.set(key, value, context)
    } finally {
      if (page !== undefined && this.#onDemand) endJoined(page)
      page?.end()
    }
  }

  async revalidateTag(tags: string | readonly string[], durations?: { expire?: number }): Promise<void> {
    const all = typeof tags === 'string' ? [tags] : tags
    if (all.length === 0) return
    const told = this.#cache.revalidate(all, durations)
    endAfter(told)
    await told
    // Next's own tags, of this process.
    await this.#inner.revalidateTag(tags, durations)
  }
}
