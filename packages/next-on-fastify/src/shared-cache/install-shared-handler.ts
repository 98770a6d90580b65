import { installCacheHandler } from '../next/page-cache/install-cache-handler.ts'
import { observedHandler } from '../next/page-cache/observed-cache-handler.ts'
import { contextOf } from './app-registry.ts'
import { sharedHandler } from './shared-cache-handler.ts'

/**
 * Installs the cache handler of all apps of this process. It shares the caches of apps with a shared cache, and records
 * reads and changes for the response cache.
 *
 * @throws CacheHandlerConflictError when another handler is installed, or Next has no handler that can be wrapped
 */
export function installSharedHandler(dir: string): void {
  installCacheHandler(dir, (Handler) => observedHandler(sharedHandler(Handler, contextOf)))
}
