// Checks options by a schema, which the compiler compares with their interfaces.

import { statSync } from 'node:fs'
import {
  anyOf,
  boolean,
  bytes,
  checkOptions,
  custom,
  func,
  integer,
  invalidOption,
  list,
  milliseconds,
  object,
  oneOf,
  optional,
  type OptionsSchema,
  port,
  string,
} from 'checked-options'
import type { LogLevel } from 'fastify'
import { InvalidOptionError } from './errors.ts'
import type { NextObserver } from './observability/observers.ts'
import type {
  CreateNextOnFastifyOptions,
  GracefulStopOptions,
  MachineCacheOptions,
  NextPluginOptions,
  RedisCacheOptions,
  ResponseCacheOptions,
} from './options.ts'

/** Options of the response cache, with defaults. */
export type ResolvedResponseCacheOptions = Required<ResponseCacheOptions>

const responseCache: OptionsSchema<ResponseCacheOptions, ResolvedResponseCacheOptions> = object(
  {
    maxEntries: optional(integer(1), 5000),
    maxBytes: optional(bytes(), 64 * 1024 * 1024),
    maxEntryBytes: optional(bytes(), 2 * 1024 * 1024),
    proxied: optional(oneOf('never', 'unmatched', 'always'), 'always'),
    brotli: optional(boolean(), false),
    cacheStatus: optional(boolean(), false),
  },
  {
    renamed: {
      bytes: 'maxBytes',
      entries: 'maxEntries',
      entryBytes: 'maxEntryBytes',
      explain: 'cacheStatus',
      proxyMemory: 'proxied',
    },
  },
)

/** The options of both kinds of shared caches. `assertOneStore` tells them apart. */
type SharedCacheOptions = MachineCacheOptions & Partial<RedisCacheOptions>

const sharedCache: OptionsSchema<SharedCacheOptions> = object({
  folder: optional(string('the path of a folder')),
  redis: optional(func<RedisCacheOptions['redis']>()),
  prefix: optional(custom<string>('a string', (value) => typeof value === 'string')),
  timeout: optional(milliseconds()),
})

const gracefulStop: OptionsSchema<GracefulStopOptions> = object({ timeout: optional(milliseconds(0)) })

const LOG_LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

const OBSERVER_METHODS = ['nextOpened', 'nextClosed', 'requestServed'] as const

const pluginOptions = {
  dir: optional(custom<string>('an existing folder', isFolder)),
  dev: optional(boolean()),
  hostname: optional(string('a host name')),
  port: optional(port()),
  prefix: optional(
    custom<string>(
      'a path with a leading slash, without a trailing slash and parameters',
      (value) => typeof value === 'string' && (value === '' || /^(\/[^/*:]+)+$/.test(value)),
    ),
  ),
  upgrades: optional(boolean()),
  requestIdHeader: optional(string('the name of a header in lower case', /^[a-z0-9-]+$/)),
  logLevel: optional(oneOf<LogLevel>(...LOG_LEVELS)),
  responseCache: optional(anyOf(boolean(), responseCache)),
  observers: optional(list(custom<NextObserver>(`an object with some of ${OBSERVER_METHODS.join(', ')}`, isObserver))),
  sharedCache: optional(anyOf(oneOf<false | 'machine'>(false, 'machine'), sharedCache)),
  bypassRouter: optional(oneOf<false | 'all' | 'handlers'>(false, 'handlers', 'all')),
}

const renamed = { memory: 'responseCache', cache: 'sharedCache', direct: 'bypassRouter' }

const pluginSchema: OptionsSchema<NextPluginOptions> = object(pluginOptions, { renamed })

const factoryOptions = {
  ...pluginOptions,
  gracefulStop: optional(anyOf(boolean(), gracefulStop)),
  fastify: optional(
    custom<object>('an object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value)),
  ),
}

/** The schema of {@link CreateNextOnFastifyOptions}. */
export const factorySchema: OptionsSchema<CreateNextOnFastifyOptions<object>> = object(factoryOptions, { renamed })

const fail = (message: string): Error => new InvalidOptionError(message)

/** Checks options of the plugin. */
export function checkPluginOptions(options: NextPluginOptions): void {
  assertOneStore(checkOptions(pluginSchema, options, fail))
}

/** Checks options of the factory. */
export function checkFactoryOptions(options: CreateNextOnFastifyOptions<object>): void {
  assertOneStore(checkOptions(factorySchema, options, fail))
}

/** Adds the defaults to options of the response cache. */
export function resolveResponseCache(
  options: boolean | ResponseCacheOptions | undefined,
): ResolvedResponseCacheOptions | undefined {
  if (options === false) return undefined
  return checkOptions(responseCache, options === true || options === undefined ? {} : options, fail)
}

/** A shared cache is in a folder or in Redis. */
function assertOneStore({ sharedCache: shared }: { readonly sharedCache?: unknown }): void {
  if (typeof shared !== 'object' || shared === null) return
  const { folder, redis, ...redisOptions } = shared as SharedCacheOptions
  if (redis !== undefined && folder !== undefined) {
    throw fail(invalidOption('sharedCache.folder', 'no folder beside "redis"', folder))
  }
  if (redis === undefined && Object.values(redisOptions).some((value) => value !== undefined)) {
    throw fail(invalidOption('sharedCache.redis', 'a function', redis))
  }
}

function isFolder(value: unknown): boolean {
  return typeof value === 'string' && (statSync(value, { throwIfNoEntry: false })?.isDirectory() ?? false)
}

function isObserver(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const methods = OBSERVER_METHODS.map((name) => (value as Record<string, unknown>)[name])
  const defined = methods.filter((method) => method !== undefined)
  return defined.length > 0 && defined.every((method) => typeof method === 'function')
}
