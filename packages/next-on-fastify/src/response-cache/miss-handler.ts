// Serves misses: Next responds, and its response is cached if that is allowed. Concurrent requests are coalesced.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PageRead } from '../next/page-cache/cache-events.ts'
import { recordReads } from '../next/page-cache/observed-cache-handler.ts'
import type { CachedSpans } from '../next/server-spans.ts'
import type { Build } from '../next/build/cacheable-build.ts'
import type { ContentEncodings } from './content-encodings.ts'
import { type InFlight, InFlightRequests } from './in-flight.ts'
import type { Invalidation } from './invalidation.ts'
import { conditionalKey, type RequestKey } from './key.ts'
import type { PathHistory } from './recent-cacheability.ts'
import { cacheability, type CacheMeta } from './policy.ts'
import type { RecordedResponse, TappedResponse, Unrecordable } from './recorder.ts'
import type { CacheReport, NotStoredReason } from './cache-counters.ts'
import { valueOf } from './response-headers.ts'
import { type Entry, type ResponseStore, withoutWeakMark } from './store.ts'
import { readyResponse } from './ready-response.ts'

/** Reasons that usually hold for all responses of a path: recording the next ones would be useless. */
const LASTING: ReadonlySet<NotStoredReason> = new Set<NotStoredReason>([
  'cookie',
  'dynamic',
  'headers',
  'partial',
  'private',
  'reads',
  'too-big',
  'vary',
])

const NO_BODY = Buffer.alloc(0)

/** Maximum times that a request waits for another one. Next stores a regenerated page only for the second one. */
const MAX_WAITS = 2

/** The parts of a cache that a filler needs. */
export interface FillerParts {
  readonly build: Build
  readonly store: ResponseStore
  readonly invalidation: Invalidation
  readonly history: PathHistory
  readonly report: CacheReport
  readonly maxEntryBytes: number
  readonly encodings: ContentEncodings
  readonly spans: CachedSpans | undefined
}

/** A response that Next is rendering. */
interface Rendering {
  readonly key: RequestKey
  readonly reads: PageRead[]
  /** The position of changes when it began. */
  readonly position: number
  readonly isBodiless: boolean
}

/** Fills the cache. */
export class CacheFiller {
  readonly #parts: FillerParts
  readonly #inFlight = new InFlightRequests()

  constructor(parts: FillerParts) {
    this.#parts = parts
  }

  /**
   * Waits for concurrent requests for the same, then continues with the cached response, if there is one. It continues
   * synchronously, so that no other request reaches Next in between, and only if the client is still connected.
   */
  async afterOthers(
    key: RequestKey,
    response: ServerResponse,
    proceed: (entry: Entry | undefined) => Promise<void>,
  ): Promise<void> {
    const { store, invalidation, report } = this.#parts
    let entry = store.find(key)
    for (let waits = 0; entry === undefined && waits < MAX_WAITS; waits++) {
      const end = this.#inFlight.end(conditionalKey(key), invalidation.position)
      if (end === undefined) break
      await end
      if (response.destroyed) return
      entry = store.find(key)
      if (entry !== undefined) report.collapsed(response)
    }
    return proceed(entry)
  }

  /** Lets Next respond, and records the response. The miss must be reported before. */
  async fill(
    key: RequestKey,
    request: IncomingMessage,
    tapped: TappedResponse,
    next: () => Promise<void>,
  ): Promise<void> {
    const { report, invalidation, maxEntryBytes, store } = this.#parts
    // Next may change the request.
    const isBodiless = request.method === 'HEAD'
    const rendering: Rendering = { key, reads: [], position: invalidation.position, isBodiless }
    const isStale = store.wasStale(key)
    const inFlight = this.#begin(key, tapped.response)
    tapped.record(maxEntryBytes, {
      head: (status, head) => {
        inFlight?.headSent()
        if (report.hasHeader) report.forwarded(tapped.response, isStale, this.#willStore(rendering, status, head))
      },
      recorded: (response) => {
        this.#store(key, this.#entryOf(rendering, request, response))
        inFlight?.ended()
      },
    })
    try {
      await recordReads(rendering.reads, next)
    } catch (error) {
      // The caller responds with an error.
      tapped.refuse('failed')
      throw error
    }
  }

  /** Lets other requests wait for this response, if it is likely to be cached. */
  #begin(key: RequestKey, { socket }: ServerResponse): InFlight | undefined {
    // A pipelined response waits for an earlier one, which could in turn wait for this one.
    if (socket === null) return undefined
    const { build, history, invalidation } = this.#parts
    const isLikely = history.isCacheable(key.kind) ?? build.isMade(key.path)
    return isLikely ? this.#inFlight.begin(conditionalKey(key), invalidation.position) : undefined
  }

  #store(key: RequestKey, entry: Entry | NotStoredReason): void {
    const { report, history, store } = this.#parts
    if (typeof entry === 'string') {
      report.notStored(entry)
      if (LASTING.has(entry)) history.wasUncacheable(key.kind)
      return
    }
    report.counts.stored++
    history.wasCached(key.kind)
    store.set(entry.status === 304 ? conditionalKey(key) : key.key, entry)
  }

  /** Whether a response with this head will be stored, unless its body is too big or the client disconnects. */
  #willStore(rendering: Rendering, status: number, head: readonly string[]): boolean {
    if (Number(valueOf(head, 'content-length') ?? 0) > this.#parts.maxEntryBytes) return false
    return typeof this.#metaOf(rendering, status, head) !== 'string'
  }

  /** Returns the entry of a response, or why there is none. */
  #entryOf(
    rendering: Rendering,
    request: IncomingMessage,
    response: RecordedResponse | Unrecordable,
  ): Entry | NotStoredReason {
    if (typeof response === 'string') return response
    const { status, head } = response
    const meta = this.#metaOf(rendering, status, head)
    if (typeof meta === 'string') return meta
    const body = status === 304 || rendering.isBodiless ? NO_BODY : response.body
    const { report, spans } = this.#parts
    const ready = readyResponse({ status, head: report.storedHead(head), body })
    return { ...ready, ...meta, route: spans?.routeOf(request) }
  }

  #metaOf({ key, reads, position }: Rendering, status: number, head: readonly string[]): CacheMeta | NotStoredReason {
    const { build, invalidation, encodings } = this.#parts
    const meta = cacheability(build, key.path, { status, head }, reads, Date.now(), encodings.known)
    if (typeof meta === 'string') return meta
    if (invalidation.hasChangedSince(position, reads)) return 'changed'
    const isOther304 = status === 304 && (key.etag === undefined || key.etag !== withoutWeakMark(meta.etag ?? ''))
    if (isOther304) return 'condition'
    const until = Math.min(meta.until, invalidation.expiryOf(meta.page))
    return until < Date.now() ? 'lifetime' : { ...meta, until }
  }
}
