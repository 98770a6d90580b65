// Shares the cache of an app with other processes, by files or by Redis.

import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { CacheNotSharedError } from '../errors.ts'
import { onDemandSecret } from '../next/build/on-demand-secret.ts'
import { readConfig, usesUseCache } from '../next/config.ts'
import type { NextHandler, RequestHandler } from '../next/handler-types.ts'
import { UnsupportedNextError } from '../next/internals.ts'
import { installUseCacheHandler } from '../next/use-cache/use-cache-handler.ts'
import { revalidatedTagsOf } from '../next/page-cache/revalidated-tags.ts'
import type { MachineCacheOptions, RedisCacheOptions } from '../options/types.ts'
import { Availability } from './outage-log.ts'
import { CacheHandlerConflictError } from '../next/page-cache/install-cache-handler.ts'
import { installSharedHandler } from './install-shared-handler.ts'
import { afterOlderPages } from './older-renderings.ts'
import { storesOf } from './open-stores.ts'
import { addApp } from './app-registry.ts'
import { SharedCache } from './shared-cache.ts'
import { imagesOf, shareImages } from './share-images.ts'
import { SharedUseCache } from './shared-use-cache.ts'

/** Default of Next's `cacheMaxMemorySize`. */
const DEFAULT_COPY_BYTES = 50 * 1024 * 1024

/** A shared cache, and the steps that it adds to requests. */
export interface CacheSharing {
  /** Serves a request by Next, after pages whose rendering began before a revalidation. */
  afterOlderPages(next: NextHandler): NextHandler
  /** Reads revalidations of other processes before a request is served. If that fails, `next` serves it. */
  upToDate(serve: RequestHandler, next: RequestHandler): RequestHandler
  /** Whether each process has its own cache of `'use cache'`. */
  readonly hasOwnUseCache: boolean
  close(): void
}

/**
 * Shares the cache of the app in `dir` with other processes.
 *
 * @param next - the started Next
 * @throws CacheNotSharedError
 */
export async function shareCache(
  dir: string,
  next: object,
  options: MachineCacheOptions | RedisCacheOptions,
  log: FastifyBaseLogger,
): Promise<CacheSharing> {
  try {
    const config = await readConfig(dir)
    if (config.cacheHandler) throw new CacheHandlerConflictError('its configuration has "cacheHandler"')
    const distDir = join(dir, config.distDir)
    const secret = onDemandSecret(distDir)
    const addRevalidatedTags = revalidatedTagsOf(dir)
    if (addRevalidatedTags === undefined) {
      throw new CacheHandlerConflictError('its Next stores revalidated tags in an unknown way')
    }
    installSharedHandler(dir)
    const { context, remove } = addApp(join(distDir, 'server'), () => {
      const { open, useCache, images } = storesOf(options, distDir, config)
      const cache = new SharedCache(open, addRevalidatedTags)
      const storing = storingOf(log)
      const copyBytes = config.cacheMaxMemorySize ?? DEFAULT_COPY_BYTES
      return {
        cache,
        onDemandSecret: secret,
        storing,
        useCache: usesUseCache(config)
          ? shareUseCache(dir, new SharedUseCache(cache, useCache, storing, copyBytes), copyBytes, log)
          : undefined,
        images: imagesOf(images, config, log),
      }
    })
    if (context.images !== undefined) await shareImages(dir, next, context.images, log)
    const hasOwnUseCache = usesUseCache(config) && context.useCache === undefined
    return sharingOf(context.cache, hasOwnUseCache, remove, log)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw Object.assign(new CacheNotSharedError(`The cache of the Next app in ${dir} cannot be shared: ${why}`), {
      cause,
    })
  }
}

function storingOf(log: FastifyBaseLogger): Availability {
  return new Availability(log, {
    works: 'shared cache of Next stores pages again',
    fails: 'shared cache of Next cannot store pages: they are rendered again',
  })
}

/** Installs the cache of `'use cache'`, if the app's Next has its interface. */
function shareUseCache(
  dir: string,
  cache: SharedUseCache,
  maxMemory: number,
  log: FastifyBaseLogger,
): SharedUseCache | undefined {
  try {
    installUseCacheHandler(dir, cache, maxMemory)
    return cache
  } catch (error) {
    if (!(error instanceof UnsupportedNextError)) throw error
    log.warn({ dir }, `each process has its own cache of 'use cache': ${error.message}`)
    return undefined
  }
}

function sharingOf(
  cache: SharedCache,
  hasOwnUseCache: boolean,
  close: () => void,
  log: FastifyBaseLogger,
): CacheSharing {
  const reading = new Availability(log, {
    works: 'shared cache of Next is available again',
    fails: 'shared cache of Next is unavailable: all pages are rendered again',
  })
  const sync = async (): Promise<boolean> => {
    try {
      await cache.sync()
      reading.works()
      return true
    } catch (error) {
      reading.fails(error)
      return false
    }
  }
  return {
    afterOlderPages: (next) => afterOlderPages(next, () => cache.position),
    upToDate: (serve, next) => {
      return async (...args) => ((await sync()) ? serve : next)(...args)
    },
    hasOwnUseCache,
    close,
  }
}
