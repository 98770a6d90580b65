// Has the cache of an app shared, as its options say.

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Answer, Handle } from '../next/handler.ts'
import { CacheNotSharedError } from '../errors.ts'
import { readConfig } from '../response-cache/build/build.ts'
import { PageCacheTaken, standBeforePageCache } from './install-cache-handler.ts'
import { ChangeLog, type ChangeReader } from './files/change-log.ts'
import { EntryFolder } from './files/entry-folder.ts'
import { tellingNext } from '../next/revalidated-tags.ts'
import { afterOlderPages } from './pending-pages.ts'
import { inTime, RedisChanges, RedisEntries, type RedisCacheOptions } from './redis/redis-store.ts'
import { SharedCache, type Store } from './shared-cache.ts'
import { share } from './shared-apps.ts'

/** Where processes of one machine share a cache. */
export interface MachineCacheOptions {
  /** The folder of what is shared, the same for all processes; each build has one of its own in it. @default `next-on-fastify` in the folder of the build */
  folder?: string
}

/** A cache that is shared, and how requests are answered then. */
export interface ShareOfCache {
  /** Lets Next answer, but not by what is being made of old data. */
  afterOlderPages(next: Handle): Handle
  /**
   * Takes note of what others have revalidated before a request is answered at all. Where that is not to be learned, `next`
   * answers.
   */
  upToDate(answer: Answer, next: Answer): Answer
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
): Promise<ShareOfCache> {
  try {
    const config = await readConfig(dir)
    if (config.cacheHandler) throw new PageCacheTaken('its configuration has `cacheHandler`')
    const distDir = join(dir, config.distDir)
    const buildId = readFileSync(join(distDir, 'BUILD_ID'), 'utf8')
    const { preview } = JSON.parse(readFileSync(join(distDir, 'prerender-manifest.json'), 'utf8')) as Manifest
    const tellNext = tellingNext(dir)
    if (tellNext === undefined) throw new PageCacheTaken('its Next keeps revalidated tags in an unknown way')
    standBeforePageCache(dir)
    const { sharing, stop } = share(join(distDir, 'server'), () => ({
      cache: new SharedCache(storeOf(options, distDir, buildId), tellNext),
      onDemand: preview.previewModeId,
    }))
    return shareOf(sharing.cache, stop, log)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw Object.assign(
      new CacheNotSharedError(`Expected the cache of the Next app in ${dir} to be shared, got: ${why}`),
      {
        cause,
      },
    )
  }
}

interface Manifest {
  readonly preview: { readonly previewModeId: string }
}

/** Where the cache of one build is. */
function storeOf(
  options: MachineCacheOptions | RedisCacheOptions,
  distDir: string,
  buildId: string,
): (reader: ChangeReader) => Store {
  if ('redis' in options) {
    const send = inTime(options)
    const prefix = `${options.prefix ?? 'next:'}${buildId}:`
    return (reader) => ({
      changes: new RedisChanges(send, `${prefix}changes`, reader),
      entries: new RedisEntries(send, prefix),
    })
  }
  const folder = join(resolve(options.folder ?? join(distDir, 'next-on-fastify')), buildId)
  return (reader) => ({
    changes: new ChangeLog(folder, reader),
    entries: new EntryFolder(join(folder, 'entries')),
  })
}

function shareOf(cache: SharedCache, close: () => void, log: FastifyBaseLogger): ShareOfCache {
  let isThere = true
  /** Whether it is known what was revalidated. */
  const sync = async (): Promise<boolean> => {
    try {
      await cache.sync()
      if (!isThere) log.info('the shared cache of Next is there again')
      isThere = true
    } catch (error) {
      if (isThere) log.error({ err: error }, 'the shared cache of Next cannot be asked: all pages are made anew')
      isThere = false
    }
    return isThere
  }
  return {
    afterOlderPages: (next) => afterOlderPages(next, () => cache.position),
    upToDate: (answer, next) => {
      return async (...asking) => ((await sync()) ? answer : next)(...asking)
    },
    close,
  }
}
