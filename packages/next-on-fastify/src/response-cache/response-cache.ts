// Serves responses that Next has declared fresh, without calling Next again.

import type { ServerResponse } from 'node:http'
import type { RequestHandler } from '../next/handler.ts'
import type { Build } from './build/build.ts'
import { CacheFiller } from './cache-filler.ts'
import { HitWriter } from './hit-writer.ts'
import { Invalidation } from './invalidation.ts'
import { requestKey, withResponseHeaders } from './key.ts'
import type { EarlyMiddleware } from './middleware/early-middleware.ts'
import { MiddlewareServing } from './middleware/middleware-serving.ts'
import { PathHistory } from './path-history.ts'
import { TappedResponse } from './recorder.ts'
import { CacheReport, type MemoryCounts } from './report.ts'
import { headersNow } from './response-headers.ts'
import { ResponseStore } from './store.ts'

/** Limits of the cache. */
export interface MemoryLimits {
  /** Maximum responses. */
  readonly entries: number
  /** Maximum bytes of all responses. */
  readonly bytes: number
  /** Maximum bytes of one response. */
  readonly entryBytes: number
}

/** Optional features of the cache. */
interface CacheFeatures {
  /** Whether a header shows how each response was served. */
  readonly explain?: boolean
  /** Whether cached responses are compressed by brotli, too. */
  readonly brotli?: boolean
  /** Whether paths with middleware are cached. Renders must be watched then. */
  readonly afterProxy?: boolean
  /** Runs the middleware of a request before Next's router. */
  readonly earlyProxy?: EarlyMiddleware | undefined
}

/** The response cache of one Next app. */
export class NextMemory {
  readonly #build: Build
  readonly #store: ResponseStore
  readonly #history: PathHistory
  readonly #invalidation: Invalidation
  readonly #report: CacheReport
  readonly #hits: HitWriter
  readonly #filler: CacheFiller
  readonly #middleware: MiddlewareServing | undefined

  constructor(build: Build, limits: MemoryLimits, features: CacheFeatures = {}) {
    const { explain = false, brotli = false, afterProxy = false, earlyProxy } = features
    const store = new ResponseStore(limits.entries, limits.bytes)
    const history = new PathHistory(limits.entries)
    const invalidation = new Invalidation(store)
    const report = new CacheReport(explain)
    const hits = new HitWriter(store, report, brotli)
    const filler = new CacheFiller({ build, store, invalidation, history, report, maxEntryBytes: limits.entryBytes })
    const parts = { build, store, history, report, hits, filler }
    this.#build = build
    this.#store = store
    this.#history = history
    this.#invalidation = invalidation
    this.#report = report
    this.#hits = hits
    this.#filler = filler
    this.#middleware = afterProxy ? new MiddlewareServing(parts, limits.entries, earlyProxy) : undefined
  }

  /** The counters, and the current size of the cache. */
  get counts(): Readonly<MemoryCounts> & {
    readonly dropped: number
    readonly entries: number
    readonly bytes: number
  } {
    const { bypasses, notKept, ...rest } = this.#report.counts
    return {
      ...rest,
      bypasses: { ...bypasses },
      notKept: { ...notKept },
      dropped: this.#invalidation.deleted,
      entries: this.#store.entries,
      bytes: this.#store.bytes,
    }
  }

  /** Serves a request from the cache, or lets `next` serve it and caches the response if that is allowed. */
  async serve(next: RequestHandler, ...args: Parameters<RequestHandler>): Promise<void> {
    const [request, response] = args
    const found = requestKey(request)
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
      if (this.#history.isBypassed(key.kind)) return this.#bypass('not-kept', response, () => next(...args))
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

  async #bypass(
    reason: keyof MemoryCounts['bypasses'],
    response: ServerResponse,
    next: () => Promise<void>,
  ): Promise<void> {
    this.#report.bypass(reason, response)
    await next()
  }
}
