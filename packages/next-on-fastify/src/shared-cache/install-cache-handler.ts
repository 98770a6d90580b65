// The place where Next looks for a cache handler that its configuration does not name: platforms put theirs there. A
// `cacheHandler` of the configuration would do too, but is fixed when the app is built, and Next passes none on that it is
// given at run time.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { sharing } from './handler.ts'
import { sharingOf } from './shared-apps.ts'
import { observed, type CacheHandlerClass } from '../next/page-reads.ts'

const HANDLERS = Symbol.for('@next/cache-handlers')

/** The class of Next's that ours stands before. There is one place, and several versions of Next may be there. */
let watched: CacheHandlerClass | undefined

/** Thrown where something else is in that place, or Next has no handler that ours could stand before. */
export class PageCacheTaken extends Error {}

/** Puts a cache handler before the one that the Next of an app uses by itself. */
export function standBeforePageCache(dir: string): void {
  const fromApp = createRequire(join(dir, 'package.json'))
  const path = 'next/dist/server/lib/incremental-cache/file-system-cache'
  const { default: FileSystemCache } = fromApp(path) as { default: CacheHandlerClass }
  if (watched !== undefined && watched === FileSystemCache) return
  const place = globalThis as { [HANDLERS]?: { FetchCache?: CacheHandlerClass } }
  if (place[HANDLERS]?.FetchCache !== undefined) throw new PageCacheTaken('another cache handler is in its process')
  if (typeof FileSystemCache !== 'function') throw new PageCacheTaken('its Next has no cache of files')
  place[HANDLERS] = { ...place[HANDLERS], FetchCache: observed(sharing(FileSystemCache, sharingOf)) }
  watched = FileSystemCache
}
