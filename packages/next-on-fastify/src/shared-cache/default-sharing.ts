// Without the option `sharedCache`, workers of a cluster share their cache. Other processes get a warning.

import { join } from 'node:path'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { readConfig } from '../next/config.ts'
import type { NextPluginOptions } from '../options/types.ts'
import { CacheHandlerConflictError } from '../next/page-cache/install-cache-handler.ts'
import { type CacheSharing, shareCache } from './open-shared-cache.ts'
import { isClusterWorker, recordProcess } from './other-processes.ts'

/**
 * Opens the shared cache of the app in `dir`, if its option or its process asks for one. Its Next must be started.
 *
 * @throws CacheNotSharedError when the option asks for one that cannot be opened
 */
export async function openSharing(
  app: FastifyInstance,
  log: FastifyBaseLogger,
  { dir, next }: { dir: string; next: object },
  { sharedCache }: NextPluginOptions,
): Promise<CacheSharing | undefined> {
  if (sharedCache === false) return undefined
  if (sharedCache !== undefined) return shareCache(dir, next, sharedCache === 'machine' ? {} : sharedCache, log)
  const sharing = isClusterWorker() ? await shareInCluster(log, dir, next) : undefined
  if (sharing === undefined) await warnOfOthers(app, log, dir)
  return sharing
}

async function shareInCluster(log: FastifyBaseLogger, dir: string, next: object): Promise<CacheSharing | undefined> {
  try {
    const sharing = await shareCache(dir, next, {}, log)
    log.info({ dir }, 'cache of Next shared with the other workers')
    return sharing
  } catch (error) {
    const { message, cause } = error as Error
    // An app with a cache handler of its own shares its cache by that.
    const level = cause instanceof CacheHandlerConflictError ? 'info' : 'warn'
    log[level](`workers do not see revalidations of each other. ${message}`)
    return undefined
  }
}

async function warnOfOthers(app: FastifyInstance, log: FastifyBaseLogger, dir: string): Promise<void> {
  let distDir
  try {
    ;({ distDir } = await readConfig(dir))
  } catch {
    return
  }
  const { others, remove } = recordProcess(join(dir, distDir))
  app.addHook('onClose', async () => remove())
  if (others.length === 0) return
  log.warn(
    { dir, processes: others },
    'other processes serve this build, and do not see revalidations of this one: set "sharedCache" to "machine"',
  )
}
