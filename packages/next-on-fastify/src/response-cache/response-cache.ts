// Serves responses that Next has declared fresh, without calling Next again.

import type { ServerResponse } from 'node:http'
import type { RequestHandler } from '../next/handler-types.ts'
import type { ResolvedResponseCacheOptions } from '../options/schema.ts'
import type { CachedSpans } from '../next/server-spans.ts'
import type { Build } from '../next/build/cacheable-build.ts'
import { type ContentEncodings, NEXT_ENCODINGS } from './content-encodings.ts'
import { CacheFiller } from './miss-handler.ts'
import { HitWriter } from './hit-writer.ts'
import { Invalidation } from './invalidation.ts'
import { requestKey, withResponseHeaders } from './key.ts'
import type { EarlyMiddleware } from '../next/middleware/early-middleware.ts'
import { MiddlewareServing } from './middleware/middleware-serving.ts'
import { PathHistory } from './recent-cacheability.ts'
import { TappedResponse } from './recorder.ts'
import { type BypassReason, CacheReport, type ResponseCacheStats } from './cache-counters.ts'
import { headersNow } from './response-headers.ts'
import { ResponseStore } from './store.ts'

/** The options that a cache uses itself. */
export type ResponseCacheLimits = Omit<ResolvedResponseCacheOptions, 'proxied'>

/** How pages behind middleware are served. */
export interface MiddlewareSupport {
  /** Runs the middleware of a request before Next's router, if that is possible. */
  readonly runEarly: EarlyMiddleware | undefined
}

/** What a cache must know about its app. */
export interface CachedApp {
  readonly encodings: ContentEncodings
  readonly spans: CachedSpans | undefined
}

const PLAIN_APP: CachedApp = { encodings: NEXT_ENCODINGS, spans: undefined }

/** The response cache of one Next app. */
export class ResponseCache {
  readonly #build: Build
  readonly #store: ResponseStore
  readonly #history: PathHistory
  readonly #invalidation: Invalidation
  readonly #report: CacheReport
  readonly #hits: HitWriter
  readonly #filler: CacheFiller
  readonly #middleware: MiddlewareServing | undefined
  readonly #encodings: ContentEncodings

  /** @param middleware - undefined if pages behind middleware bypass the cache */
  constructor(
    build: Build,
    limits: ResponseCacheLimits,
    middleware?: MiddlewareSupport,
    { encodings, spans }: CachedApp = PLAIN_APP,
  ) {
    const { maxEntries, maxBytes, maxEntryBytes } = limits
    const store = new ResponseStore(maxEntries, maxBytes)
    const history = new PathHistory(maxEntries)
    const invalidation = new Invalidation(store)
    const report = new CacheReport(limits.cacheStatus)
    const hits = new HitWriter(store, report, limits.brotli, spans)
    const filler = new CacheFiller({ build, store, invalidation, history, report, maxEntryBytes, encodings, spans })
    const parts = { build, store, history, report, hits, filler, encodings }
    this.#build = build
    this.#store = store
    this.#history = history
    this.#invalidation = invalidation
    this.#report = report
    this.#hits = hits
    this.#filler = filler
    this.#encodings = encodings
    this.#middleware = middleware && new MiddlewareServing(parts, maxEntries, middleware.runEarly)
  }

  /** The counters, and the current size of the cache. */
  get stats(): ResponseCacheStats {
    const { bypasses, notStored, ...rest } = this.#report.counts
    return {
      ...rest,
      bypasses: { ...bypasses },
      notStored: { ...notStored },
      invalidated: this.#invalidation.deleted,
      entries: this.#store.entries,
      bytes: this.#store.bytes,
    }
  }

  /** Serves a request from the cache, or lets `next` serve it and caches the response if that is allowed. */
  async serve(next: RequestHandler, ...args: Parameters<RequestHandler>): Promise<void> {
    const [request, response] = args
    const found = requestKey(request, this.#encodings)
    if (typeof found === 'string') return this.#bypass(found, response, () => next(...args))
    const { path } = found
    if (this.#build.isBot(request.headers['user-agent'])) return this.#bypass('bot', response, () => next(...args))
    if (this.#build.isProxied(path)) {
      if (this.#middleware === undefined || this.#build.isConditional(path)) {
        return this.#bypass('conditional-path', response, () => next(...args))
      }
      return this.#middleware.serve(found, next, ...args)
    }
    const key = withResponseHeaders(found, headersNow(response))
    // Responses of a path with conditions were never cached, so a hit needs no check of them.
    const hit = this.#store.find(key)
    if (hit !== undefined) return this.#hits.write(key.key, hit, request, response)
    await this.#filler.afterOthers(key, response, (entry) => {
      if (entry !== undefined) return this.#hits.write(key.key, entry, request, response)
      if (this.#build.isConditional(path)) return this.#bypass('conditional-path', response, () => next(...args))
      if (this.#history.isBypassed(key.kind)) return this.#bypass('uncacheable', response, () => next(...args))
      this.#report.miss(response)
      return this.#filler.fill(key, request, new TappedResponse(response), () => next(...args))
    })
  }

  /** Clears the cache, and stops caching. */
  close(): void {
    this.#invalidation.stop()
    this.#store.clear()
    this.#history.clear()
    this.#middleware?.clear()
  }

  async #bypass(reason: BypassReason, response: ServerResponse, next: () => Promise<void>): Promise<void> {
    this.#report.bypass(reason, response)
    await next()
  }
}
