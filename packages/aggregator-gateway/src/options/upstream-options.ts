// Options of an upstream.

import type { LookupFunction } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type { interceptors } from 'undici'

/** A store of cached responses: any cache store of undici. */
export type CacheStore = NonNullable<NonNullable<Parameters<typeof interceptors.cache>[0]>['store']>

/** When calls to an origin are stopped. */
export interface CircuitBreakerOptions {
  /** Share of failed calls above which the circuit opens, between 0 and 1. @default 0.5 */
  errorRate?: number
  /** Number of recent calls that the error rate is computed from. @default 20 */
  window?: number
  /** Time until a single call probes an open circuit, in milliseconds. @default 1000 */
  resetTimeout?: number
}

/** How responses of an upstream are cached. */
export interface CacheOptions {
  /** Store of cached responses: a cache store of undici, such as a `KeyValueCacheStore`. @default in memory */
  store?: CacheStore
  /** Maximum duration of a lookup in the store, in milliseconds. After it, the upstream is called. @default 100 */
  storeTimeout?: number
  /** Maximum bytes of all bodies in memory. Above it, half of the entries are dropped. @default 33554432 */
  maxBytes?: number
  /** Maximum number of responses in memory. Above it, half of the entries are dropped. @default 1024 */
  maxEntries?: number
  /** Maximum bytes of a body in memory. Larger ones are not cached. @default 1048576 */
  maxEntryBytes?: number
}

/** Options of {@link KeyValueCacheStore}. */
export interface KeyValueCacheStoreOptions {
  /** Maximum bytes of a cached body. It is held in memory until it is complete. @default 1048576 */
  maxEntryBytes?: number
}

/** An upstream: one server, or several with the same responses. */
export interface UpstreamOptions {
  /** Origin such as `http://orders:3000`, or several. A call goes to the working origin with the fewest running calls. */
  origin: string | readonly string[]
  /** Maximum number of connections to an origin. @default 64 */
  maxConnections?: number
  /** Maximum number of calls that wait for a connection to an origin. Further calls are rejected immediately. @default 256 */
  maxQueue?: number
  /** Maximum number of pass-through bodies in transfer with an origin, beside `maxConnections`. Further requests get a 503. @default 1024 */
  maxStreams?: number
  /** Maximum duration of connecting, in milliseconds. @default 1000 */
  connectTimeout?: number
  /** Maximum age of a connection, in milliseconds. A new one follows changes of the DNS. @default 30000 */
  connectionTtl?: number
  /** Function that resolves host names. @default Node's `dns.lookup` */
  lookup?: LookupFunction
  /** Node's TLS options for `https:` origins: `ca`, `cert`, `key`, `servername` and so on. @default {} */
  tls?: Omit<ConnectionOptions, 'host' | 'port' | 'path' | 'socket' | 'lookup' | 'timeout'>
  /** Maximum bytes of a call's response, both as received and decompressed. @default 1048576 */
  maxResponseBytes?: number
  /** Circuit breaker of each origin, or `false` for none. @default {} */
  circuitBreaker?: false | CircuitBreakerOptions
  /** Maximum number of retries per call, on average. @default 0.1 */
  retryBudget?: number
  /** Maximum number of hedged requests per call, on average. @default 0.02 */
  hedgeBudget?: number
  /** Cache responses to GET as long as their `cache-control` allows. @default false */
  cache?: boolean | CacheOptions
}
