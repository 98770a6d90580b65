import type { ResponseCacheLimits } from '../../src/response-cache/response-cache.ts'

/** Options of a small response cache. */
export function cacheLimits(options: Partial<ResponseCacheLimits> = {}): ResponseCacheLimits {
  return { maxEntries: 10, maxBytes: 1e6, maxEntryBytes: 1e5, brotli: false, cacheStatus: false, ...options }
}
