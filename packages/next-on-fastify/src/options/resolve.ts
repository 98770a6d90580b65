// Checks options, and adds their defaults.

import { checkOptions, invalidOption } from 'checked-options'
import { InvalidOptionError } from '../errors.ts'
import {
  factorySchema,
  pluginSchema,
  type ResolvedResponseCacheOptions,
  responseCacheSchema,
  type SharedCacheOptions,
} from './schema.ts'
import type { CreateNextOnFastifyOptions, NextPluginOptions, ResponseCacheOptions } from './types.ts'

const fail = (message: string): Error => new InvalidOptionError(message)

/** Checks options of the plugin. */
export function checkPluginOptions(options: NextPluginOptions): void {
  assertComplete(checkOptions(pluginSchema, options, fail))
}

/** Checks options of the factory. */
export function checkFactoryOptions(options: CreateNextOnFastifyOptions<object>): void {
  assertComplete(checkOptions(factorySchema, options, fail))
}

/** Adds the defaults to options of the response cache. */
export function resolveResponseCache(
  options: boolean | ResponseCacheOptions | undefined,
): ResolvedResponseCacheOptions | undefined {
  if (options === false) return undefined
  return checkOptions(responseCacheSchema, options === true || options === undefined ? {} : options, fail)
}

/** Checks options that depend on each other. */
function assertComplete({ sharedCache, cdn }: Pick<NextPluginOptions, 'cdn' | 'sharedCache'>): void {
  assertOneStore({ sharedCache })
  if (cdn !== undefined && cdn.tagHeader === undefined && cdn.onRevalidate === undefined) {
    throw fail(invalidOption('cdn', 'an object with "tagHeader" or "onRevalidate"', cdn))
  }
}

/** A shared cache is in a folder or in Redis. */
function assertOneStore({ sharedCache: shared }: { readonly sharedCache?: unknown }): void {
  if (typeof shared !== 'object' || shared === null) return
  const { folder, maxBytes, redis, ...redisOptions } = shared as SharedCacheOptions
  if (redis !== undefined && folder !== undefined) {
    throw fail(invalidOption('sharedCache.folder', 'no folder beside "redis"', folder))
  }
  if (redis !== undefined && maxBytes !== undefined) {
    throw fail(invalidOption('sharedCache.maxBytes', 'no limit of files beside "redis"', maxBytes))
  }
  if (redis === undefined && Object.values(redisOptions).some((value) => value !== undefined)) {
    throw fail(invalidOption('sharedCache.redis', 'a function', redis))
  }
}

/** Whether Next compiles pages on request. */
export function isDev({ dev = process.env['NODE_ENV'] !== 'production' }: NextPluginOptions): boolean {
  return dev
}
