// Options of an upstream.

import type { LookupFunction } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type { interceptors } from 'undici'

/** Where responses are cached: any cache store of undici. */
export type CacheStore = NonNullable<NonNullable<Parameters<typeof interceptors.cache>[0]>['store']>

/** When the calls to an origin are stopped. */
export interface BreakerOptions {
  /** The share of failed calls above which an origin is not called any more. @default 0.5 */
  threshold?: number
  /** Of how many calls, the last ones. @default 20 */
  calls?: number
  /** Milliseconds until one call tries the origin again. @default 1000 */
  openFor?: number
}

/** How an upstream's responses are cached. */
export interface CacheOptions {
  /** Where they are kept: a cache store of undici, such as a `KeyValueCacheStore`. @default memory */
  store?: CacheStore
  /** Milliseconds that a store may take to find one; then the upstream is asked. @default 100 */
  storeTimeout?: number
  /** The most bytes of all bodies in memory; beyond them, half is dropped. @default 33554432 */
  maxSize?: number
  /** The most answers in memory; beyond them, half is dropped. @default 1024 */
  maxCount?: number
  /** The most bytes of a body that is kept in memory. @default 1048576 */
  maxEntrySize?: number
}

/** An upstream: one server, or several that give the same answers. */
export interface UpstreamOptions {
  /** Where it is, such as `http://orders:3000`; of several origins, the one with the fewest calls of those that work is taken. */
  origin: string | readonly string[]
  /** The most connections to an origin. @default 64 */
  connections?: number
  /** The most calls that wait for a connection to an origin; those beyond fail at once. @default 256 */
  queue?: number
  /** Maximum pass-through bodies in transfer with an origin, beside `connections`; requests beyond are rejected with 503. @default 1024 */
  maxStreams?: number
  /** Milliseconds that connecting may take. @default 1000 */
  connectTimeout?: number
  /** Milliseconds after which a connection is made anew, which follows changes of the DNS. @default 30000 */
  connectionTtl?: number
  /** How names of hosts are looked up. @default that of Node */
  lookup?: LookupFunction
  /** For `https:`, what Node's TLS takes: `ca`, `cert`, `key`, `servername` and so on. @default {} */
  tls?: Omit<ConnectionOptions, 'host' | 'port' | 'path' | 'socket' | 'lookup' | 'timeout'>
  /** Maximum bytes of a call's response, as received and decompressed. @default 1048576 */
  maxResponseSize?: number
  /** When an origin that fails is not called any more; `false` for never. @default see below */
  breaker?: false | BreakerOptions
  /** How many retries there may be for each call, on average. @default 0.1 */
  retryBudget?: number
  /** How many hedges there may be for each call, on average. @default 0.02 */
  hedgeBudget?: number
  /** Whether answers to GET are kept for as long as their `cache-control` allows; or options. @default false */
  cache?: boolean | CacheOptions
}
