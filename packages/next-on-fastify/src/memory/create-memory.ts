// Makes the memory of an app, where its build allows one.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { NotKeepable, readBuild } from './build.ts'
import { NextMemory, type MemoryLimits } from './memory.ts'
import { observed, type CacheHandlerClass } from './page-reads.ts'

/** Options of the memory. */
export interface MemoryOptions {
  /** How many answers are kept at most. @default 5000 */
  entries?: number
  /** How many bytes all kept answers have at most. @default 67108864 */
  bytes?: number
  /** How many bytes a kept answer has at most. @default 2097152 */
  entryBytes?: number
  /** Whether paths are kept that no matcher of `proxy.ts` or middleware matches, in an app that has one. @default false */
  proxyMemory?: boolean
  /** Whether each answer tells in a header `x-next-on-fastify` how it came about. @default false */
  explain?: boolean
}

const HANDLERS = Symbol.for('@next/cache-handlers')

/** The class of Next's that ours stands before. There is one place, and several versions of Next may be there. */
let watched: CacheHandlerClass | undefined

/** Makes the memory of the app in `dir`, or logs why it has none. */
export async function createMemory(
  dir: string,
  options: MemoryOptions,
  log: FastifyBaseLogger,
): Promise<NextMemory | undefined> {
  const { entries = 5000, bytes = 64 * 1024 * 1024, entryBytes = 2 * 1024 * 1024 } = options
  const limits: MemoryLimits = { entries, bytes, entryBytes: Math.min(entryBytes, bytes) }
  try {
    const build = await readBuild(dir, options.proxyMemory ?? false)
    watchPageCache(dir)
    return new NextMemory(build, limits, options.explain ?? false)
  } catch (error) {
    const why = error instanceof NotKeepable ? error.message : 'its build is not as expected'
    log.warn({ err: error instanceof NotKeepable ? undefined : error, dir }, `nothing of this Next app is kept: ${why}`)
    return undefined
  }
}

/**
 * Puts a cache handler before the one that Next uses by itself.
 *
 * Next takes the class of its handler from this place where the configuration names none: platforms put theirs there. A
 * `cacheHandler` of the configuration would do too, but is fixed when the app is built, and Next passes none on that it
 * is given at run time.
 */
function watchPageCache(dir: string): void {
  const fromApp = createRequire(join(dir, 'package.json'))
  const path = 'next/dist/server/lib/incremental-cache/file-system-cache'
  const { default: FileSystemCache } = fromApp(path) as { default: CacheHandlerClass }
  if (watched !== undefined && watched === FileSystemCache) return
  const place = globalThis as { [HANDLERS]?: { FetchCache?: CacheHandlerClass } }
  if (place[HANDLERS]?.FetchCache !== undefined) throw new NotKeepable('another cache handler is in its process')
  if (typeof FileSystemCache !== 'function') throw new NotKeepable('its Next has no cache of files')
  place[HANDLERS] = { ...place[HANDLERS], FetchCache: observed(FileSystemCache) }
  watched = FileSystemCache
}
