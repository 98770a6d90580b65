// The cache handler of an app with a shared cache, by Next's public interface.

import { endResponseAfter } from '../http/delayed-end.ts'
import {
  type CacheHandler,
  type CacheHandlerClass,
  type Context,
  type Found,
  PAGE_KINDS,
  pageTags,
} from '../next/page-cache/cache-handler-types.ts'
import { beginPage, endJoined, isPending, type PendingPage } from './older-renderings.ts'
import type { Availability } from './outage-log.ts'
import type { Rendering, SharedCache } from './shared-cache.ts'
import type { SharedImages } from './shared-images.ts'
import type { SharedUseCache } from './shared-use-cache.ts'

/** The shared cache of an app. */
export interface SharedCacheContext {
  readonly cache: SharedCache
  /** The secret value of `x-prerender-revalidate` in requests that regenerate a page on demand. */
  readonly onDemandSecret: string
  /** Whether entries can be stored, for the log. */
  readonly storing: Availability
  /** The shared cache of `'use cache'`. Undefined if the app does not use it, or if its Next has another interface. */
  readonly useCache: SharedUseCache | undefined
  /** The shared cache of transformed images. Undefined if there is none. */
  readonly images: SharedImages | undefined
}

interface HandlerOptions {
  readonly serverDistDir?: string
  readonly maxMemoryCacheSize?: number
  readonly _requestHeaders?: Readonly<Record<string, unknown>>
}

type Value = Parameters<CacheHandler['set']>[1]

/** Wraps a cache handler class. It shares the caches of apps that have a context, and does nothing for other apps. */
export function sharedHandler(
  Handler: CacheHandlerClass,
  contextOf: (serverDistDir: string) => SharedCacheContext | undefined,
): CacheHandlerClass {
  return class implements CacheHandler {
    /** Next's own handler, which reads entries of the build. */
    readonly #inner: CacheHandler
    readonly #shared: SharedHandler | undefined

    constructor(options: unknown) {
      const { serverDistDir = '', maxMemoryCacheSize = 0, _requestHeaders = {} } = options as HandlerOptions
      const context = contextOf(serverDistDir)
      // Other processes cannot invalidate its in-memory copies.
      this.#inner = new Handler(context === undefined ? options : { ...(options as object), maxMemoryCacheSize: 0 })
      if (context === undefined) return
      context.cache.keepCopies(maxMemoryCacheSize)
      const isOnDemand = _requestHeaders['x-prerender-revalidate'] === context.onDemandSecret
      this.#shared = new SharedHandler(context, this.#inner, isOnDemand)
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

/** The handler of one request. Next creates one per request. */
class SharedHandler implements CacheHandler {
  readonly #cache: SharedCache
  readonly #storing: Availability
  readonly #inner: CacheHandler
  readonly #isOnDemand: boolean
  /** The state in which each rendering began, by key. */
  readonly #renderings = new Map<string, Rendering>()
  readonly #pending = new Map<string, PendingPage>()
  readonly #first: Rendering

  constructor({ cache, storing }: SharedCacheContext, inner: CacheHandler, isOnDemand: boolean) {
    this.#cache = cache
    this.#storing = storing
    this.#inner = inner
    this.#isOnDemand = isOnDemand
    this.#first = { since: cache.position, at: Date.now(), tags: [], previous: undefined }
  }

  async get(key: string, context: Context): Promise<Found | null> {
    const { kind = '', tags = [], softTags = [] } = context
    const isPage = PAGE_KINDS.has(kind)
    const dataTags = [...tags, ...softTags]
    try {
      await this.#cache.sync()
      const since = this.#isOnDemand && isPage ? await this.#cache.mark() : this.#cache.position
      const at = Date.now()
      // Next may reuse an older rendering in progress, which must not be stored then.
      if (this.#isOnDemand && isPage && isPending(key)) await this.#cache.regenerate(key, since)
      if (isPage) this.#pending.set(key, beginPage(key, since))
      const tagsOf = isPage ? (value: unknown) => pageTags(value as Found['value']) : () => dataTags
      const { found, previous } = await this.#cache.find(key, tagsOf, () => this.#inner.get(key, context))
      this.#renderings.set(key, { since, at, tags: dataTags, previous })
      return found
    } catch (error) {
      // With unknown revalidations, Next renders again. A regeneration on demand must not be lost.
      if (this.#isOnDemand && isPage) throw error
      return null
    }
  }

  async set(key: string, value: Value, context: Context): Promise<void> {
    const isPage = context.fetchCache !== true
    const rendering = this.#renderings.get(key) ?? this.#first
    const own = isPage ? pageTags(value) : (context.tags ?? [])
    const tags = [...new Set([...own, ...rendering.tags])]
    const page = this.#pending.get(key)
    if (page !== undefined) page.isStored = true
    try {
      const isOnDemand = this.#isOnDemand && isPage
      const isStored = await this.#cache.store(key, value, tags, context.cacheControl, rendering, isOnDemand)
      // Data outlives a build: the next build reads it from Next's own cache.
      if (isStored && !isPage) await this.#inner.set(key, value, context)
      this.#storing.works()
    } catch (error) {
      // Next would log a stack for each page. A regeneration on demand must not be lost.
      if (this.#isOnDemand && isPage) throw error
      this.#storing.fails(error)
    } finally {
      if (page !== undefined && this.#isOnDemand) endJoined(page)
      page?.end()
    }
  }

  async revalidateTag(tags: string | readonly string[], durations?: { expire?: number }): Promise<void> {
    const all = typeof tags === 'string' ? [tags] : tags
    if (all.length === 0) return
    const isShared = this.#cache.revalidate(all, durations)
    endResponseAfter(isShared)
    await isShared
    // Next's own map of tags in this process.
    await this.#inner.revalidateTag(tags, durations)
  }
}
