import type { FastifyServerOptions, LogLevel, RegisterOptions } from 'fastify'
import type { NextObserver } from '../observability/observers.ts'

/** Options of {@link nextPlugin}. */
export interface NextPluginOptions {
  /** Folder of the Next app, which contains `next.config`. Relative to the working directory. @default '.' */
  dir?: string
  /** Compile pages on request, as `next dev` does. @default true unless `NODE_ENV` is `production` */
  dev?: boolean
  /**
   * Host name in URLs that Next builds, such as `request.url` of a route handler. Next never takes it from the request.
   * @default 'localhost'
   */
  hostname?: string
  /** Port in these URLs, which can differ from the one of `listen()`. @default 3000 */
  port?: number
  /** Path prefix of the Next app. It must equal the `basePath` of its configuration. @default all paths */
  prefix?: string
  /**
   * Pass WebSockets to Next: hot reloads in `dev`, rewrites to other servers in production. Without it, they get a 426.
   * @default true in `dev` and for a build with a rewrite to another server, else false
   */
  upgrades?: boolean
  /**
   * Request header that passes Fastify's request ID to Next, in lower case. It replaces a header of the client.
   * @default none
   */
  requestIdHeader?: string
  /** Log level of requests that Next serves. @default the app's */
  logLevel?: LogLevel
  /** Serializers for the log of requests that Next serves. @default the app's */
  logSerializers?: NonNullable<RegisterOptions['logSerializers']>
  /**
   * Cache fresh responses in memory, and serve them without calling Next. Not in `dev`, nor for a build without proof that
   * responses stay the same.
   * @default true
   */
  responseCache?: boolean | ResponseCacheOptions
  /**
   * Compress responses of Next by zstd and brotli besides gzip, streamed ones chunk by chunk. It replaces Next's compression.
   * @default false
   */
  compression?: boolean | CompressionOptions
  /** Observers of the requests that Next serves, such as metrics. @default [] */
  observers?: readonly NextObserver[]
  /**
   * Share Next's caches and revalidations: with all processes of this machine (`'machine'`), or by Redis. Not in `dev`.
   * @default 'machine' in workers of a cluster, else false
   */
  sharedCache?: false | 'machine' | MachineCacheOptions | RedisCacheOptions
  /**
   * Render without Next's router: API routes and route handlers (`'handlers'`), or dynamic pages as well (`'all'`). Not in
   * `dev`.
   * @default false
   */
  bypassRouter?: false | 'all' | 'handlers'
  /** Support a CDN in front: tags of responses, and a hook for revalidations. Not in `dev`. @default none */
  cdn?: CdnOptions
}

/** Options of the response cache. */
export interface ResponseCacheOptions {
  /** Maximum number of cached responses. @default 5000 */
  maxEntries?: number
  /** Maximum size of all cached responses, in bytes. @default 67108864 */
  maxBytes?: number
  /** Maximum size of one cached response, in bytes. @default 2097152 */
  maxEntryBytes?: number
  /**
   * Which pages of an app with middleware are cached: none (`'never'`), those that no matcher matches (`'unmatched'`), or
   * all, each time after middleware has run (`'always'`).
   * @default 'always'
   */
  proxied?: 'always' | 'never' | 'unmatched'
  /** Compress cached responses by brotli as well, for clients that accept it. @default false */
  brotli?: boolean
  /** Send a `Cache-Status` header (RFC 9211) that shows how each response was served. @default false */
  cacheStatus?: boolean
}

/** Options of the compression. */
export interface CompressionOptions {
  /** Content encodings besides gzip and deflate, the preferred one first. @default ['zstd', 'br'] */
  encodings?: readonly ('br' | 'zstd')[]
  /** Quality of brotli, from 0 to 11. From 5 on, it takes more CPU than gzip. @default 4 */
  brotliQuality?: number
  /** Level of zstd, from 1 to 19. From 7 on, it takes more CPU than gzip. @default 3 */
  zstdLevel?: number
  /**
   * Size of the window of brotli and zstd as a power of two, from 10 to 23. It bounds the memory of each response.
   * @default 18
   */
  windowBits?: number
}

/** Options of a cache that processes of one machine share. */
export interface MachineCacheOptions {
  /**
   * Folder of the shared files, the same for all processes. Each build has a subfolder.
   * @default `next-on-fastify` in the folder of the build
   */
  folder?: string
  /**
   * Maximum size of all files of `'use cache'`, and of all transformed images, in bytes each. The oldest are removed.
   * @default 1073741824
   */
  maxBytes?: number
}

/** Options of a cache that machines share by Redis. */
export interface RedisCacheOptions {
  /** Function that sends a command to Redis or Valkey, such as `(command) => client.sendCommand(command)`. */
  redis: (command: string[]) => Promise<unknown>
  /** Prefix of all keys. @default 'next:' */
  prefix?: string
  /** Maximum time for a reply of Redis, in ms. @default 500 */
  timeout?: number
}

/** Header with the tags of a response: of Cloudflare, Fastly, or Varnish with its module `xkey`. */
export type TagHeader = 'cache-tag' | 'surrogate-key' | 'xkey'

/** A revalidation by a request of this process. */
export interface Revalidation {
  /** Revalidated tags, as the tag header has them. All responses to remove have one of them. */
  readonly tags: readonly string[]
  /** URL paths that were passed to `revalidatePath()` or `res.revalidate()`. */
  readonly paths: readonly string[]
  /** Aborted after `timeout`. */
  readonly signal: AbortSignal
}

/** Options for a CDN in front of the app. At least one of the first two is required. */
export interface CdnOptions {
  /** Header that names the tags of each response of Next. @default none */
  tagHeader?: TagHeader
  /**
   * Called after each revalidation, to purge the CDN. The response waits for it. Errors are logged, and don't fail the
   * request.
   * @default none
   */
  onRevalidate?: (revalidation: Revalidation) => unknown
  /** Maximum time that a response waits for `onRevalidate`, in ms. @default 5000 */
  timeout?: number
}

/** Options of a graceful stop. */
export interface GracefulStopOptions {
  /** Time after a stop signal until open connections are closed, in ms. @default 8000 */
  timeout?: number
}

/** Options of {@link createNextOnFastify}: the plugin's, and those of Fastify itself. */
export interface CreateNextOnFastifyOptions<Fastify = FastifyServerOptions> extends NextPluginOptions {
  /**
   * Close the app on `SIGTERM` and `SIGINT`, and end the process. It does nothing if the process has another listener for
   * the signal.
   * @default false in `dev`, else true
   */
  gracefulStop?: boolean | GracefulStopOptions
  /** Options of `Fastify()`. @default {} */
  fastify?: Fastify
}
