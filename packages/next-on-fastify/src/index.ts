// Factory
export { createNextOnFastify } from './create-next-on-fastify.ts'

// Plugin
export { nextPlugin, nextPlugin as default } from './plugin.ts'
export { routableUrl } from './fastify/routable-url.ts'

// Options
export type { GracefulStopOptions } from './http/graceful-stop.ts'
export type { CreateNextOnFastifyOptions, NextPluginOptions } from './options.ts'

// Memory
export type { MemoryOptions } from './response-cache/create-response-cache.ts'
export type { MemoryCounts, NextMemory } from './response-cache/response-cache.ts'

// Observers
export type { NextAnswer, NextObserver, ObservedNext } from './observability/observers.ts'

// Cache
export type { RedisCacheOptions } from './shared-cache/redis/redis-store.ts'
export type { MachineCacheOptions } from './shared-cache/open-shared-cache.ts'

// Direct
export type { DirectCounts, NextDirect } from './router-bypass/router-bypass.ts'
