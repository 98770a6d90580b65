// Checks options by a schema, which the compiler compares with their interfaces.

import { statSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import {
  anyOf,
  boolean,
  bytes,
  custom,
  func,
  integer,
  list,
  milliseconds,
  object,
  observer,
  oneOf,
  optional,
  type OptionsSchema,
  port,
  record,
  string,
  withOldValues,
} from 'checked-options'
import type { LogLevel } from 'fastify'
import type { NextObserver } from '../observability/observers.ts'
import type {
  CdnOptions,
  CompressionOptions,
  CreateNextOnFastifyOptions,
  GracefulStopOptions,
  MachineCacheOptions,
  NextPluginOptions,
  RedisCacheOptions,
  ResponseCacheOptions,
} from './types.ts'

/** Options of the response cache, with defaults. */
export type ResolvedResponseCacheOptions = Required<ResponseCacheOptions>

/** The schema of {@link ResponseCacheOptions}. */
export const responseCacheSchema: OptionsSchema<ResponseCacheOptions, ResolvedResponseCacheOptions> = object(
  {
    maxEntries: optional(integer(1), 5000),
    maxBytes: optional(bytes(), 64 * 1024 * 1024),
    maxEntryBytes: optional(bytes(), 2 * 1024 * 1024),
    proxied: optional(
      withOldValues(oneOf('never', 'unmatched', 'always'), [
        [false, 'never'],
        [true, 'unmatched'],
        ['after-proxy', 'always'],
      ]),
      'always',
    ),
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

/** Options of the compression, with defaults. */
export type ResolvedCompressionOptions = Required<CompressionOptions>

/** The schema of {@link CompressionOptions}. `resolve.ts` adds the default of `encodings`. */
export const compressionSchema: OptionsSchema<
  CompressionOptions,
  Omit<ResolvedCompressionOptions, 'encodings'> & CompressionOptions
> = object({
  encodings: optional(list(oneOf('br', 'zstd'))),
  brotliQuality: optional(integer(0, 11), 4),
  zstdLevel: optional(integer(1, 19), 3),
  windowBits: optional(integer(10, 23), 18),
})

/** The options of both kinds of shared caches. `resolve.ts` tells them apart. */
export type SharedCacheOptions = MachineCacheOptions & Partial<RedisCacheOptions>

const sharedCache: OptionsSchema<SharedCacheOptions> = object({
  folder: optional(string('the path of a folder')),
  maxBytes: optional(bytes()),
  redis: optional(func<RedisCacheOptions['redis']>()),
  prefix: optional(custom<string>('a string', (value) => typeof value === 'string')),
  timeout: optional(milliseconds()),
})

const cdn: OptionsSchema<CdnOptions> = object({
  tagHeader: optional(oneOf('cache-tag', 'surrogate-key', 'xkey')),
  onRevalidate: optional(func<NonNullable<CdnOptions['onRevalidate']>>()),
  timeout: optional(milliseconds()),
})

const gracefulStop: OptionsSchema<GracefulStopOptions> = object({ timeout: optional(milliseconds(0)) })

const LOG_LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

const OBSERVER_METHODS = ['nextOpened', 'nextClosed', 'requestServed'] as const

/** Refuses headers that frame a request, or name its host or user: with an ID as their value, no request would be served. */
const FREE_HEADER =
  /^(?!(?:authorization|connection|content-.*|cookie|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$)[a-z0-9-]+$/

const pluginOptions = {
  dir: optional(custom<string>('an existing folder', isFolder)),
  dev: optional(boolean()),
  hostname: optional(custom<string>('a host name without protocol, port and path', isHostname)),
  port: optional(port()),
  prefix: optional(
    custom<string>(
      'a path with a leading slash, without a trailing slash and parameters',
      (value) => typeof value === 'string' && (value === '' || /^(\/[^/*:]+)+$/.test(value)),
    ),
  ),
  upgrades: optional(boolean()),
  requestIdHeader: optional(string('the name of a header in lower case that has no meaning in HTTP', FREE_HEADER)),
  logLevel: optional(oneOf<LogLevel>(...LOG_LEVELS)),
  logSerializers: optional(record(func<NonNullable<NextPluginOptions['logSerializers']>[string]>())),
  responseCache: optional(anyOf(boolean(), responseCacheSchema)),
  compression: optional(anyOf(boolean(), compressionSchema)),
  observers: optional(list(observer<NextObserver>(OBSERVER_METHODS, { nextAnswered: 'requestServed' }))),
  sharedCache: optional(
    withOldValues(anyOf(oneOf<false | 'machine'>(false, 'machine'), sharedCache), [['process', false]]),
  ),
  bypassRouter: optional(
    withOldValues(oneOf<false | 'all' | 'handlers'>(false, 'handlers', 'all'), [['api', 'handlers']]),
  ),
  cdn: optional(cdn),
}

const renamed = { memory: 'responseCache', cache: 'sharedCache', direct: 'bypassRouter' }

/** The schema of {@link NextPluginOptions}. */
export const pluginSchema: OptionsSchema<NextPluginOptions> = object(pluginOptions, { renamed })

const factoryOptions = {
  ...pluginOptions,
  gracefulStop: optional(anyOf(boolean(), gracefulStop)),
  fastify: optional(
    custom<object>('an object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value)),
  ),
}

/** The schema of {@link CreateNextOnFastifyOptions}. */
export const factorySchema: OptionsSchema<CreateNextOnFastifyOptions<object>> = object(factoryOptions, { renamed })

function isFolder(value: unknown): boolean {
  return typeof value === 'string' && (statSync(value, { throwIfNoEntry: false })?.isDirectory() ?? false)
}

/** Next builds URLs from it: any other value would be an error for each request. */
function isHostname(value: unknown): boolean {
  if (typeof value !== 'string') return false
  return isIPv6(value) || (/^(\[[^\s/@?#\\]+\]|[^\s:/@?#\\]+)$/.test(value) && URL.canParse(`http://${value}`))
}
