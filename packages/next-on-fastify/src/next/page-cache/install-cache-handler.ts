// Installs our cache handler where Next looks for the handler of a hosting platform. The setting `cacheHandler` is fixed at
// build time, and Next ignores it at run time.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { CacheHandlerClass } from './cache-handler-types.ts'

const HANDLERS = Symbol.for('@next/cache-handlers')

/** The class of Next that is wrapped. A process may have several versions of Next, but only one handler. */
let wrapped: CacheHandlerClass | undefined

/** Thrown if another handler is installed, or Next has no handler that can be wrapped. */
export class CacheHandlerConflictError extends Error {}

/** Wraps the default cache handler of the app's Next, once per process. Each caller passes the same function. */
export function installCacheHandler(dir: string, wrap: (Handler: CacheHandlerClass) => CacheHandlerClass): void {
  const fromApp = createRequire(join(dir, 'package.json'))
  const path = 'next/dist/server/lib/incremental-cache/file-system-cache'
  const { default: FileSystemCache } = fromApp(path) as { default: CacheHandlerClass }
  if (wrapped !== undefined && wrapped === FileSystemCache) return
  const globals = globalThis as { [HANDLERS]?: { FetchCache?: CacheHandlerClass } }
  if (globals[HANDLERS]?.FetchCache !== undefined) {
    throw new CacheHandlerConflictError('its process has another cache handler')
  }
  if (typeof FileSystemCache !== 'function') throw new CacheHandlerConflictError('its Next has no file cache')
  globals[HANDLERS] = { ...globals[HANDLERS], FetchCache: wrap(FileSystemCache) }
  wrapped = FileSystemCache
}
