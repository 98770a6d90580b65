// Next's public interface for the cache of `'use cache'`, and its place in Next.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { functionOf, UnsupportedNextError } from '../internals.ts'

/** An entry as Next stores it. Durations are in seconds, the time is in milliseconds since 1970. */
export interface UseCacheEntry {
  /** It can be read once. */
  readonly value: ReadableStream<Uint8Array>
  readonly tags: string[]
  readonly stale: number
  /** When its generation began. */
  readonly timestamp: number
  readonly expire: number
  readonly revalidate: number
}

/** A handler of Next for `'use cache'`. */
export interface UseCacheHandler {
  get(key: string, softTags: string[]): Promise<UseCacheEntry | undefined>
  set(key: string, pending: Promise<UseCacheEntry>): Promise<void>
  refreshTags(): Promise<void>
  getExpiration(tags: string[]): Promise<number>
  updateTags(tags: string[], durations?: { expire?: number }): Promise<void>
}

/** The kinds that `'use cache'` and `'use cache: remote'` use. `'use cache: private'` has no handler in production. */
const KINDS = ['default', 'remote'] as const

/**
 * Installs a handler in place of the ones that Next has built in. Handlers of the configuration stay.
 *
 * @throws UnsupportedNextError for a Next with another interface
 */
export function installUseCacheHandler(dir: string, handler: UseCacheHandler, maxMemory: number): void {
  const fromApp = createRequire(join(dir, 'package.json'))
  const module = loadHandlers(fromApp)
  const isBuiltIn = functionOf(module, 'isBuiltInCacheHandler')
  const install = functionOf(module, 'setCacheHandler')
  // Does nothing if Next has done it.
  functionOf(module, 'initializeCacheHandlers')(maxMemory)
  for (const kind of KINDS) {
    if (isBuiltIn(kind) === true) install(kind, handler)
  }
}

function loadHandlers(fromApp: NodeJS.Require): Readonly<Record<string, unknown>> {
  try {
    return fromApp('next/dist/server/use-cache/handlers') as Readonly<Record<string, unknown>>
  } catch (cause) {
    throw Object.assign(new UnsupportedNextError("its Next has no handlers for 'use cache'"), { cause })
  }
}
