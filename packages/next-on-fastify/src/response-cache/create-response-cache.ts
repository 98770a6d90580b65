// Creates the response cache of an app, if its build allows that.

import type { FastifyBaseLogger } from 'fastify'
import type { ResolvedResponseCacheOptions } from '../options/schema.ts'
import { CacheHandlerConflictError } from '../next/page-cache/install-cache-handler.ts'
import { installSharedHandler } from '../shared-cache/install-shared-handler.ts'
import { readBuild } from '../next/build/cacheable-build.ts'
import { UncacheableBuildError } from '../next/build/uncacheable-build-error.ts'
import { watchRenders } from '../next/middleware/render-hook.ts'
import { ResponseCache } from './response-cache.ts'
import { CAN_FRAME_CHUNKS } from './ready-response.ts'

/**
 * Creates the response cache of the app in `dir`, whose Next must be prepared, or logs why it is off, at the
 * given level. `hasOwnUseCache` if other processes share Next's cache, but not that of `'use cache'`.
 */
export async function createResponseCache(
  dir: string,
  options: ResolvedResponseCacheOptions,
  log: FastifyBaseLogger,
  hasOwnUseCache = false,
  level: 'info' | 'warn' = 'warn',
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
    return new ResponseCache(build, limits, middleware)
  } catch (error) {
    const isReason = error instanceof UncacheableBuildError || error instanceof CacheHandlerConflictError
    const why = isReason ? error.message : 'unrecognized build output'
    log[level]({ err: isReason ? undefined : error, dir }, `response cache disabled for this Next app: ${why}`)
    return undefined
  }
}
