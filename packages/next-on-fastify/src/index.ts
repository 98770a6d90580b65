// Factory
export { createNextOnFastify } from './create-next-on-fastify.ts'

// Plugin
export { nextPlugin, nextPlugin as default } from './next-plugin.ts'
export { routableUrl } from './routable-url.ts'

// Options
export type { GracefulStopOptions } from './graceful-stop.ts'
export type { CreateNextOnFastifyOptions, NextPluginOptions } from './options.ts'

// Memory
export type { MemoryOptions } from './memory/create-memory.ts'
export type { MemoryCounts, NextMemory } from './memory/memory.ts'

// Observers
export type { NextAnswer, NextObserver, ObservedNext } from './observe.ts'

// Cache
export type { RedisCacheOptions } from './cache/redis-store.ts'
export type { MachineCacheOptions } from './cache/share-cache.ts'

// Direct
export type { DirectCounts, NextDirect } from './direct/direct.ts'
