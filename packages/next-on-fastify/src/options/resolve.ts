// Checks options, and adds their defaults.

import { checkOptions, invalidOption } from 'checked-options'
import { InvalidOptionError } from '../errors.ts'
import {
  compressionSchema,
  factorySchema,
  pluginSchema,
  type ResolvedCompressionOptions,
  type ResolvedResponseCacheOptions,
  responseCacheSchema,
  type SharedCacheOptions,
} from './schema.ts'
import type {
  CompressionOptions,
  CreateNextOnFastifyOptions,
  NextPluginOptions,
  ResponseCacheOptions,
} from './types.ts'

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

/** Adds the defaults to options of the compression. */
export function resolveCompression(
  options: boolean | CompressionOptions | undefined,
): ResolvedCompressionOptions | undefined {
  if (options === false || options === undefined) return undefined
  const { encodings = ['zstd', 'br'], ...rest } = checkOptions(compressionSchema, options === true ? {} : options, fail)
  return { ...rest, encodings }
}

/** The error for an app whose own configuration turns compression off. */
export function compressionConflict(got: unknown): Error {
  return fail(invalidOption('compression', 'false for an app whose `next.config` has `compress: false`', got))
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
