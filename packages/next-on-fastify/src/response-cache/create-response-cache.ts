// Creates the response cache of an app, if its build allows that.

import type { FastifyBaseLogger } from 'fastify'
import type { NegotiatedEncodings } from '../compression/negotiation.ts'
import type { ResolvedResponseCacheOptions } from '../options/schema.ts'
import { CacheHandlerConflictError } from '../next/page-cache/install-cache-handler.ts'
import { installSharedHandler } from '../shared-cache/install-shared-handler.ts'
import { readBuild } from '../next/build/cacheable-build.ts'
import { UncacheableBuildError } from '../next/build/uncacheable-build-error.ts'
import { cachedSpansOf } from '../next/server-spans.ts'
import { watchRenders } from '../next/middleware/render-hook.ts'
import { encodingsOf, NEXT_ENCODINGS } from './content-encodings.ts'
import { ResponseCache } from './response-cache.ts'
import { CAN_FRAME_CHUNKS } from './ready-response.ts'

/** What a response cache must know about its app. */
export interface CacheContext {
  /** Whether other processes share Next's cache, but not that of `'use cache'`. */
  readonly hasOwnUseCache?: boolean
  /** Log level of the reason why the cache is off. */
  readonly level?: 'info' | 'warn'
  /** The prepared Next, for the spans of cached responses. */
  readonly next?: object
  /** The compression of the app, if it is not Next's own. */
  readonly compression?: NegotiatedEncodings | undefined
}

/** Creates the response cache of the app in `dir`, whose Next must be prepared, or logs why it is off. */
export async function createResponseCache(
  dir: string,
  options: ResolvedResponseCacheOptions,
  log: FastifyBaseLogger,
  { hasOwnUseCache = false, level = 'warn', next, compression }: CacheContext = {},
): Promise<ResponseCache | undefined> {
  const { proxied, maxBytes } = options
  const limits = { ...options, maxEntryBytes: Math.min(options.maxEntryBytes, maxBytes) }
  try {
    const build = await readBuild(dir, { allowsMiddleware: proxied !== 'never', hasOwnUseCache })
    for (const rule of build.coveringRules) {
      log.warn({ dir, rule }, `no page is cached: the condition of ${rule} in next.config decides about every path`)
    }
    const middleware = proxied === 'always' ? { runEarly: await watchRenders(dir, log) } : undefined
    installSharedHandler(dir)
    if (!CAN_FRAME_CHUNKS) log.warn('compressed cached responses take longer to write: this Node frames chunks itself')
    const encodings = compression === undefined ? NEXT_ENCODINGS : encodingsOf(compression)
    return new ResponseCache(build, limits, middleware, {
      encodings,
      spans: next && (await cachedSpansOf(dir, next, log)),
    })
  } catch (error) {
    const isReason = error instanceof UncacheableBuildError || error instanceof CacheHandlerConflictError
    const why = isReason ? error.message : 'unrecognized build output'
    log[level]({ err: isReason ? undefined : error, dir }, `response cache disabled for this Next app: ${why}`)
    return undefined
  }
}
