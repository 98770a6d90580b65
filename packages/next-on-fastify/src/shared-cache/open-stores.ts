// Where the shared cache of a build is: in a folder of this machine, or in Redis.

import { hash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { onDemandSecret } from '../next/build/on-demand-secret.ts'
import type { NextConfig } from '../next/config.ts'
import { uniqueBuildId } from '../next/deployment-id.ts'
import type { MachineCacheOptions, RedisCacheOptions } from '../options/types.ts'
import { FileChanges } from './file-change-log.ts'
import { FileEntries } from './file-entries.ts'
import { FileLocks } from './file-locks.ts'
import { RedisLocks } from './redis-locks.ts'
import { RedisChanges, RedisEntries, sendWithTimeout } from './redis-store.ts'
import type { ImageStore } from './shared-images.ts'
import type { UseCacheStore } from './shared-use-cache.ts'
import type { ChangeReader, Store } from './store-contract.ts'

/** Default size of all files of `'use cache'`, and of all images. One entry may take a part of it. */
const DEFAULT_MAX_BYTES = 1024 * 1024 * 1024
const MAX_ENTRY_SHARE = 0.1

/** Maximum size of an entry of `'use cache'`, and of an image in Redis. Other commands wait while one is sent. */
const MAX_REDIS_ENTRY = 16 * 1024 * 1024
const MAX_REDIS_IMAGE = 4 * 1024 * 1024

/** The stores of a shared cache. */
export interface Stores {
  /** Opens the log of changes, and the pages of one build. */
  readonly open: (reader: ChangeReader) => Store
  readonly useCache: UseCacheStore
  /** Undefined if the configuration allows no files of images. */
  readonly images: ImageStore | undefined
}

/** The stores of the build in `distDir`. */
export function storesOf(
  options: MachineCacheOptions | RedisCacheOptions,
  distDir: string,
  config: NextConfig,
): Stores {
  const build = storeNameOf(distDir, config)
  return 'redis' in options ? redisStores(options, build) : fileStores(options, distDir, build, config)
}

/** A name that no build of another app has, even if both apps set the same build id. */
function storeNameOf(distDir: string, config: NextConfig): string {
  const secret = hash('sha256', onDemandSecret(distDir)).slice(0, 16)
  return `${uniqueBuildId(distDir, config)}-${secret}`
}

function redisStores(options: RedisCacheOptions, build: string): Stores {
  const send = sendWithTimeout(options)
  // A large image that takes too long must not stop commands for pages.
  const sendImages = sendWithTimeout(options)
  const prefix = `${options.prefix ?? 'next:'}${build}:`
  return {
    open: (reader) => ({
      changes: new RedisChanges(send, `${prefix}changes`, reader),
      entries: new RedisEntries(send, prefix),
    }),
    useCache: { entries: new RedisEntries(send, `${prefix}use-cache:`), maxEntryBytes: MAX_REDIS_ENTRY },
    images: {
      entries: new RedisEntries(sendImages, `${prefix}images:`),
      locks: new RedisLocks(sendImages, `${prefix}images:`),
      maxEntryBytes: MAX_REDIS_IMAGE,
      build,
    },
  }
}

function fileStores(options: MachineCacheOptions, distDir: string, build: string, { images }: NextConfig): Stores {
  const root = resolve(options.folder ?? join(distDir, 'next-on-fastify'))
  const folder = join(root, build)
  const { maxBytes = DEFAULT_MAX_BYTES } = options
  const maxImageBytes = images?.maximumDiskCacheSize ?? maxBytes
  // Images of older builds count, too: nothing else would remove them from a folder that several builds use.
  const imageFolder = join(root, 'images')
  return {
    open: (reader) => ({
      changes: new FileChanges(folder, reader),
      entries: new FileEntries(join(folder, 'entries')),
    }),
    useCache: {
      entries: new FileEntries(join(folder, 'use-cache'), maxBytes),
      maxEntryBytes: maxBytes * MAX_ENTRY_SHARE,
    },
    images:
      maxImageBytes === 0
        ? undefined
        : {
            entries: new FileEntries(imageFolder, maxImageBytes),
            locks: new FileLocks(join(imageFolder, 'locks')),
            maxEntryBytes: maxImageBytes * MAX_ENTRY_SHARE,
            build,
          },
  }
}
