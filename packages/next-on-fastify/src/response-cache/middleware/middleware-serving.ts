// Serves pages behind middleware: it runs for each request, and the cache replaces only the steps after it.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { RequestHandler } from '../../next/handler-types.ts'
import type { Build } from '../../next/build/cacheable-build.ts'
import type { ContentEncodings } from '../content-encodings.ts'
import type { CacheFiller } from '../miss-handler.ts'
import type { HitWriter } from '../hit-writer.ts'
import { type KeyInput, requestKey, type RequestKey, withResponseHeaders } from '../key.ts'
import type { PathHistory } from '../recent-cacheability.ts'
import { TappedResponse } from '../recorder.ts'
import type { CacheReport } from '../cache-counters.ts'
import { headersNow } from '../response-headers.ts'
import type { ResponseStore } from '../store.ts'
import type { EarlyMiddleware } from '../../next/middleware/early-middleware.ts'
import { addRouterHeaders, headersFor, type RouterHeaders, routerHeadersOf } from './router-headers.ts'
import { type AddedHeaders, addedHeadersOf, type RenderWatcher, watch } from '../../next/middleware/render-hook.ts'

/** The parts of a cache that pages behind middleware need. */
interface ServingParts {
  readonly build: Build
  readonly store: ResponseStore
  readonly history: PathHistory
  readonly report: CacheReport
  readonly hits: HitWriter
  readonly filler: CacheFiller
  readonly encodings: ContentEncodings
}

type KnownHeaders = LRUCache<string, readonly RouterHeaders[]>

/** Serves pages behind middleware from the cache. */
export class MiddlewareServing {
  readonly #parts: ServingParts
  readonly #runEarly: EarlyMiddleware | undefined
  /** Headers that Next's router sets after middleware, by key. A path with such headers is known to reach middleware. */
  readonly #known: KnownHeaders

  constructor(parts: ServingParts, maxEntries: number, runEarly: EarlyMiddleware | undefined) {
    this.#parts = parts
    this.#runEarly = runEarly
    this.#known = new LRUCache({ max: maxEntries })
  }

  /** Lets Next run middleware. If that passes the request through unchanged, the cache responds. */
  async serve(key: RequestKey, next: RequestHandler, ...args: Parameters<RequestHandler>): Promise<void> {
    const [request, response] = args
    const { build, report } = this.#parts
    report.bypassed('proxy', response)
    const proxied = new ProxiedRequest(this.#parts, this.#known, key, request, response)
    // Only these conditions decide whether Next's router runs middleware, and its steps before that.
    if (this.#runEarly !== undefined && build.isAlwaysProxied(key.path) && proxied.isKnown()) {
      const result = await this.#runEarly(...args)
      if (result !== undefined) report.counts.earlyMiddleware++
      const served = proxied.serveCached(addedHeadersOf(result))
      if (served !== undefined) return served
    }
    const rendered = proxied.watch()
    await next(...args)
    if (!rendered.isPassedThrough) {
      const { bypasses } = report.counts
      bypasses.proxy = (bypasses.proxy ?? 0) + 1
    }
  }

  clear(): void {
    this.#known.clear()
  }
}

/** A request whose middleware runs before the cache may respond. */
class ProxiedRequest {
  readonly #parts: ServingParts
  readonly #known: KnownHeaders
  readonly #requestKey: RequestKey
  readonly #request: IncomingMessage
  /** The request as it was: Next changes its headers. */
  readonly #original: KeyInput
  readonly #response: ServerResponse
  readonly #before: ReadonlyMap<string, string>
  readonly #key: RequestKey

  constructor(
    parts: ServingParts,
    known: KnownHeaders,
    key: RequestKey,
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    const { method, url, httpVersionMajor, headers } = request
    this.#parts = parts
    this.#known = known
    this.#requestKey = key
    this.#request = request
    this.#original = { method, url, httpVersionMajor, headers: { ...headers } }
    this.#response = response
    this.#before = headersNow(response)
    this.#key = withResponseHeaders(key, this.#before)
  }

  /** Whether an earlier request for the same has reached the steps after middleware. */
  isKnown(): boolean {
    return this.#known.has(this.#key.key)
  }

  /** Responds from the cache after middleware. Undefined if Next must continue. */
  serveCached(added: AddedHeaders | undefined, tapped?: TappedResponse): Promise<void> | undefined {
    const headers = added && headersFor(this.#known.get(this.#key.key) ?? [], added)
    if (!headers || !this.#isUnchanged(added)) return undefined
    const key = withResponseHeaders(this.#key, headers)
    const entry = this.#parts.store.find(key)
    if (entry === undefined) return undefined
    for (const [name, value] of headers) this.#response.setHeader(name, value)
    return this.#parts.hits.write(key.key, entry, this.#original, this.#response, tapped)
  }

  /** Watches the steps of Next, and serves from the cache where that is possible. */
  watch(): { readonly isPassedThrough: boolean } {
    const tapped = new TappedResponse(this.#response)
    const state = { isPassedThrough: false }
    const watcher: RenderWatcher = {
      afterMiddleware: (added) => {
        const served = this.serveCached(added, tapped)
        state.isPassedThrough ||= served !== undefined
        return served
      },
      beforeRender: (added, render) => {
        if (added === undefined || !this.#isUnchanged(added)) return render()
        state.isPassedThrough = true
        return this.#serveRender(added, tapped, render)
      },
    }
    watch(this.#request, watcher)
    return state
  }

  #serveRender(added: AddedHeaders, tapped: TappedResponse, render: () => Promise<void>): Promise<void> {
    const { filler, hits, history, report } = this.#parts
    const routerHeaders = routerHeadersOf(this.#response, this.#before, added)
    if (routerHeaders !== undefined) {
      const { key } = this.#key
      this.#known.set(key, addRouterHeaders(this.#known.get(key) ?? [], routerHeaders))
    }
    const key = withResponseHeaders(this.#requestKey, headersNow(this.#response))
    return filler.afterOthers(key, this.#response, (entry) => {
      if (entry !== undefined) return hits.write(key.key, entry, this.#original, this.#response, tapped)
      if (history.isBypassed(key.kind)) {
        report.bypass('uncacheable', this.#response)
        return render()
      }
      report.miss(this.#response)
      return filler.fill(key, this.#request, tapped, render)
    })
  }

  /** Whether the page sees the same request, also with the headers that middleware has added. */
  #isUnchanged(added: AddedHeaders): boolean {
    if (this.#response.statusCode !== 200) return false
    if (Object.keys(added).length === 0) return true
    const seen = requestKey(
      { ...this.#original, headers: { ...this.#original.headers, ...added } },
      this.#parts.encodings,
    )
    return typeof seen === 'object' && seen.key === this.#requestKey.key && seen.etag === this.#requestKey.etag
  }
}
