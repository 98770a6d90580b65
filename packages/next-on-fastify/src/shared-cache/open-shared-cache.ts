// Shares the cache of an app with other processes, by files or by Redis.

import { join, resolve } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { CacheNotSharedError } from '../errors.ts'
import { onDemandSecret } from '../next/build/on-demand-secret.ts'
import { type NextConfig, readConfig } from '../next/config.ts'
import { uniqueBuildId } from '../next/deployment-id.ts'
import type { NextHandler, RequestHandler } from '../next/handler-types.ts'
import { UnsupportedNextError } from '../next/internals.ts'
import { installUseCacheHandler } from '../next/use-cache/use-cache-handler.ts'
import { revalidatedTagsOf } from '../next/page-cache/revalidated-tags.ts'
import type { MachineCacheOptions, RedisCacheOptions } from '../options/types.ts'
import { Availability } from './outage-log.ts'
import { FileChanges } from './file-change-log.ts'
import { FileEntries } from './file-entries.ts'
import { CacheHandlerConflictError } from '../next/page-cache/install-cache-handler.ts'
import { installSharedHandler } from './install-shared-handler.ts'
import { afterOlderPages } from './older-renderings.ts'
import { RedisChanges, RedisEntries, sendWithTimeout } from './redis-store.ts'
import { addApp } from './app-registry.ts'
import { SharedCache } from './shared-cache.ts'
import { SharedUseCache, type UseCacheStore } from './shared-use-cache.ts'
import type { ChangeReader, Store } from './store-contract.ts'

/** Default of Next's `cacheMaxMemorySize`. */
const DEFAULT_COPY_BYTES = 50 * 1024 * 1024

/** Default size of all files of `'use cache'`, and the part of it that one entry may take. */
const DEFAULT_MAX_BYTES = 1024 * 1024 * 1024
const MAX_ENTRY_SHARE = 0.1

/** Maximum size of an entry of `'use cache'` in Redis. */
const MAX_REDIS_ENTRY = 16 * 1024 * 1024

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
 * @throws CacheNotSharedError
 */
export async function shareCache(
  dir: string,
  options: MachineCacheOptions | RedisCacheOptions,
  log: FastifyBaseLogger,
): Promise<CacheSharing> {
  try {
    const config = await readConfig(dir)
    if (config.cacheHandler) throw new CacheHandlerConflictError('its configuration has "cacheHandler"')
    const distDir = join(dir, config.distDir)
    const buildId = uniqueBuildId(distDir, config)
    const secret = onDemandSecret(distDir)
    const addRevalidatedTags = revalidatedTagsOf(dir)
    if (addRevalidatedTags === undefined) {
      throw new CacheHandlerConflictError('its Next stores revalidated tags in an unknown way')
    }
    installSharedHandler(dir)
    const { context, remove } = addApp(join(distDir, 'server'), () => {
      const { open, useCache } = storesOf(options, distDir, buildId)
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
      }
    })
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

/** Whether an app may have `'use cache'`. */
function usesUseCache({ cacheComponents, experimental }: NextConfig): boolean {
  return Boolean(cacheComponents ?? experimental?.['useCache'])
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

interface Stores {
  /** Opens the log of changes, and the pages of one build. */
  readonly open: (reader: ChangeReader) => Store
  readonly useCache: UseCacheStore
}

function storesOf(options: MachineCacheOptions | RedisCacheOptions, distDir: string, buildId: string): Stores {
  if ('redis' in options) {
    const send = sendWithTimeout(options)
    const prefix = `${options.prefix ?? 'next:'}${buildId}:`
    return {
      open: (reader) => ({
        changes: new RedisChanges(send, `${prefix}changes`, reader),
        entries: new RedisEntries(send, prefix),
      }),
      useCache: { entries: new RedisEntries(send, `${prefix}use-cache:`), maxEntryBytes: MAX_REDIS_ENTRY },
    }
  }
  const folder = join(resolve(options.folder ?? join(distDir, 'next-on-fastify')), buildId)
  const { maxBytes = DEFAULT_MAX_BYTES } = options
  return {
    open: (reader) => ({
      changes: new FileChanges(folder, reader),
      entries: new FileEntries(join(folder, 'entries')),
    }),
    useCache: {
      entries: new FileEntries(join(folder, 'use-cache'), maxBytes),
      maxEntryBytes: maxBytes * MAX_ENTRY_SHARE,
    },
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
