// Makes the memory of an app, where its build allows one.

import type { FastifyBaseLogger } from 'fastify'
import { PageCacheTaken, standBeforePageCache } from '../shared-cache/install-cache-handler.ts'
import { watchRenders } from './middleware/watch-renders.ts'
import { NotKeepable, readBuild } from './build/build.ts'
import { NextMemory, type MemoryLimits } from './response-cache.ts'
import { WRITES_CHUNKS } from './writer.ts'

/** Options of the memory. */
export interface MemoryOptions {
  /** How many answers are kept at most. @default 5000 */
  entries?: number
  /** How many bytes all kept answers have at most. @default 67108864 */
  bytes?: number
  /** How many bytes a kept answer has at most. @default 2097152 */
  entryBytes?: number
  /**
   * Whether paths are kept that no matcher of `proxy.ts` or middleware matches, in an app that has one; with `'after-proxy'`,
   * paths that one matches too, each time after it has run. @default false
   */
  proxyMemory?: boolean | 'after-proxy'
  /** Whether what is kept is also compressed by brotli, for clients that take it. @default false */
  brotli?: boolean
  /** Whether each answer tells in a header `x-next-on-fastify` how it came about. @default false */
  explain?: boolean
}

/**
 * Makes the memory of the app in `dir`, of which Next has been prepared, or logs why it has none. `isShared` when other
 * processes have the same cache.
 */
export async function createMemory(
  dir: string,
  options: MemoryOptions,
  log: FastifyBaseLogger,
  isShared = false,
): Promise<NextMemory | undefined> {
  const { entries = 5000, bytes = 64 * 1024 * 1024, entryBytes = 2 * 1024 * 1024, proxyMemory = false } = options
  const limits: MemoryLimits = { entries, bytes, entryBytes: Math.min(entryBytes, bytes) }
  try {
    const build = await readBuild(dir, proxyMemory !== false, isShared)
    const afterProxy = proxyMemory === 'after-proxy'
    const earlyProxy = afterProxy ? await watchRenders(dir, log) : undefined
    standBeforePageCache(dir)
    if (!WRITES_CHUNKS) log.warn('this Node frames chunks itself: compressed answers from memory take longer to write')
    const { explain = false, brotli = false } = options
    return new NextMemory(build, limits, { explain, brotli, afterProxy, earlyProxy })
  } catch (error) {
    const isReason = error instanceof NotKeepable || error instanceof PageCacheTaken
    const why = isReason ? error.message : 'its build is not as expected'
    log.warn({ err: isReason ? undefined : error, dir }, `nothing of this Next app is kept: ${why}`)
    return undefined
  }
}
