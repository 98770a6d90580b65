import { fileURLToPath } from 'node:url'
import type { Redis } from 'ioredis'
import type { NextPluginOptions } from 'next-on-fastify'
import { nextMetrics } from './metrics.ts'
import { COMMAND_TIMEOUT } from './redis.ts'
import { settings } from './settings.ts'

/** The Next app. Its cache is shared: by all hosts with Redis, else by the workers of this machine. */
export function pages(redis: Redis | undefined): NextPluginOptions {
  return {
    dir: fileURLToPath(new URL('../web/', import.meta.url)),
    dev: false,
    responseCache: { brotli: true, cacheStatus: true },
    sharedCache: redis
      ? { redis: ([name = '', ...rest]) => redis.call(name, ...rest), timeout: COMMAND_TIMEOUT }
      : { ...(settings.cacheFolder !== undefined && { folder: settings.cacheFolder }) },
    bypassRouter: 'all',
    observers: [nextMetrics],
  }
}
