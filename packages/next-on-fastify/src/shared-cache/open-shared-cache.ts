// Shares the cache of an app with other processes, by files or by Redis.

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { CacheNotSharedError } from '../errors.ts'
import { readConfig } from '../next/config.ts'
import { uniqueBuildId } from '../next/deployment-id.ts'
import type { NextHandler, RequestHandler } from '../next/handler-types.ts'
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
import type { ChangeReader, Store } from './store-contract.ts'

/** A shared cache, and the steps that it adds to requests. */
export interface CacheSharing {
  /** Serves a request by Next, after pages whose rendering began before a revalidation. */
  afterOlderPages(next: NextHandler): NextHandler
  /** Reads revalidations of other processes before a request is served. If that fails, `next` serves it. */
  upToDate(serve: RequestHandler, next: RequestHandler): RequestHandler
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
    const { preview } = JSON.parse(readFileSync(join(distDir, 'prerender-manifest.json'), 'utf8')) as Manifest
    const addRevalidatedTags = revalidatedTagsOf(dir)
    if (addRevalidatedTags === undefined) {
      throw new CacheHandlerConflictError('its Next stores revalidated tags in an unknown way')
    }
    installSharedHandler(dir)
    const { context, remove } = addApp(join(distDir, 'server'), () => ({
      cache: new SharedCache(storeOf(options, distDir, buildId), addRevalidatedTags),
      onDemandSecret: preview.previewModeId,
      storing: new Availability(log, {
        works: 'shared cache of Next stores pages again',
        fails: 'shared cache of Next cannot store pages: they are rendered again',
      }),
    }))
    return sharingOf(context.cache, remove, log)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw Object.assign(new CacheNotSharedError(`The cache of the Next app in ${dir} cannot be shared: ${why}`), {
      cause,
    })
  }
}

interface Manifest {
  readonly preview: { readonly previewModeId: string }
}

/** Returns the function that opens the store of one build. */
function storeOf(
  options: MachineCacheOptions | RedisCacheOptions,
  distDir: string,
  buildId: string,
): (reader: ChangeReader) => Store {
  if ('redis' in options) {
    const send = sendWithTimeout(options)
    const prefix = `${options.prefix ?? 'next:'}${buildId}:`
    return (reader) => ({
      changes: new RedisChanges(send, `${prefix}changes`, reader),
      entries: new RedisEntries(send, prefix),
    })
  }
  const folder = join(resolve(options.folder ?? join(distDir, 'next-on-fastify')), buildId)
  return (reader) => ({
    changes: new FileChanges(folder, reader),
    entries: new FileEntries(join(folder, 'entries')),
  })
}

function sharingOf(cache: SharedCache, close: () => void, log: FastifyBaseLogger): CacheSharing {
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
    close,
  }
}
