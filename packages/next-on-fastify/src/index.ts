// Factory
export { createNextOnFastify } from './create-next-on-fastify.ts'

// Plugin
export { nextPlugin, nextPlugin as default } from './plugin.ts'
export { bareClientError } from './http/client-errors.ts'
export { routableUrl } from './fastify/routable-url.ts'

// Options
export type {
  CdnOptions,
  CreateNextOnFastifyOptions,
  GracefulStopOptions,
  MachineCacheOptions,
  NextPluginOptions,
  RedisCacheOptions,
  ResponseCacheOptions,
  Revalidation,
  TagHeader,
} from './options/types.ts'

// Statistics
export type { NextStats } from './observability/stats.ts'
export type { ResponseCacheStats } from './response-cache/cache-counters.ts'
export type { RouterBypassStats } from './router-bypass/router-bypass.ts'

// Observers
export type { NextObserver, ObservedNext, ServedRequest } from './observability/observers.ts'

// Errors
export { errorCodes } from './errors.ts'
