// Caches responses of an upstream with undici's cache (RFC 9111), in a given store or in memory. The cache comes before
// the choice of an origin: it responds while all origins are broken, and background revalidations are counted and
// limited like other requests.

import type { Writable } from 'node:stream'
import { cacheStores, type Dispatcher, interceptors } from 'undici'
import { Circuit } from '../upstream/circuit-breaker.ts'
import { exchange, type ExchangeOptions, NO_CONTROLLER } from '../upstream/exchange.ts'
import { isTraceHeader } from '../http/header-rules.ts'
import { CallError, CANNOT_BE_SENT } from '../call/outcome.ts'
import type { Upstream } from '../upstream/upstream.ts'

/** Where responses are cached: any cache store of undici. */
export type CacheStore = NonNullable<NonNullable<Parameters<typeof interceptors.cache>[0]>['store']>
type Key = Parameters<CacheStore['get']>[0]
type Value = Parameters<CacheStore['createWriteStream']>[1]
type Entry = NonNullable<Awaited<ReturnType<CacheStore['get']>>>

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

/** Error statuses that are cached if the response allows it. After other errors, the upstream is asked again. */
const KEPT_ERRORS: readonly number[] = [404, 410]

/**
 * The response cache of an upstream. undici's cache saves load of the upstream and the network rather than of the
 * gateway: a hit takes 14 % less CPU, a miss takes more. See docs/measurements.md#undici-cache
 */
export class ResponseCache {
  readonly #url: string
  readonly #store: GuardedStore
  readonly #dispatch: Dispatcher.Dispatch
  /** Timeout of undici, the only one for background revalidations and for requests whose client has left. */
  readonly #longest: number

  /** `longest`: milliseconds after which no client waits for a response any more. */
  constructor(upstream: Upstream, options: CacheOptions, longest: number) {
    const { store, storeTimeout = 100, maxSize = 33_554_432, maxCount = 1024, maxEntrySize = 1_048_576 } = options
    this.#url = upstream.url
    this.#longest = longest
    this.#store = new GuardedStore(store ?? new cacheStores.MemoryCacheStore({ maxSize, maxCount, maxEntrySize }), {
      mostBytes: upstream.maxResponseSize,
      timeout: storeTimeout,
    })
    const compose: (dispatch: Dispatcher.Dispatch, origin: string) => Dispatcher.Dispatch = interceptors.cache({
      store: this.#store,
      methods: ['GET'],
      type: 'shared',
    })
    this.#dispatch = compose(sending(upstream), this.#url)
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler, how: ExchangeOptions): void {
    const request: Request = { ...options, how, headersTimeout: this.#longest, bodyTimeout: this.#longest }
    try {
      this.#dispatch(request, handler)
    } catch (cause) {
      handler.onResponseError?.(NO_CONTROLLER, new CallError({ ...CANNOT_BE_SENT, cause }))
    }
  }

  /** Drops the cached responses of that path. */
  forget({ path }: Dispatcher.DispatchOptions): void {
    void this.#store.delete({ origin: this.#url, method: 'GET', path })
  }
}

/** A request that passes through undici's cache unchanged, except for its headers. */
interface Request extends Dispatcher.DispatchOptions {
  how?: ExchangeOptions
}

function sending(upstream: Upstream): Dispatcher.Dispatch {
  return (options: Request, handler) => {
    exchange(upstream, options, handler, options.how)
    return true
  }
}

interface GuardOptions {
  readonly mostBytes: number
  readonly timeout: number
}

const TOO_LATE = Symbol('too late')

/** A store that never makes a request fail, and never returns the response to a different request. */
class GuardedStore implements CacheStore {
  readonly #store: CacheStore
  readonly #mostBytes: number
  readonly #timeout: number
  /** Skips a store that hangs, so that requests do not wait for it each time. */
  readonly #circuit = new Circuit({})

  constructor(store: CacheStore, { mostBytes, timeout }: GuardOptions) {
    this.#store = store
    this.#mostBytes = mostBytes
    this.#timeout = timeout
  }

  get(key: Key): Entry | undefined | Promise<Entry | undefined> {
    if (!this.#circuit.allows()) return undefined
    const isTry = this.#circuit.begin()
    const asked = identified(key)
    try {
      const found = this.#store.get(asked)
      if (found instanceof Promise) return this.#inTime(found, isTry, asked)
      this.#circuit.succeeded(isTry)
      return this.#usable(found, asked)
    } catch {
      this.#circuit.failed()
      return undefined
    }
  }

  async #inTime(found: Promise<Entry | undefined>, isTry: boolean, asked: Identified): Promise<Entry | undefined> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<typeof TOO_LATE>((resolve) => {
      timer = setTimeout(resolve, this.#timeout, TOO_LATE)
    })
    try {
      const entry = await Promise.race([found, late])
      if (entry !== TOO_LATE) {
        this.#circuit.succeeded(isTry)
        return this.#usable(entry, asked)
      }
    } catch {
      // An error counts like a timeout.
    } finally {
      clearTimeout(timer)
    }
    this.#circuit.failed()
    return undefined
  }

  /** Other gateways, with other limits and other headers, may have written it. */
  #usable(entry: Entry | undefined, { headers }: Identified): Entry | undefined {
    if (entry?.vary?.[IDENTITY] !== headers[IDENTITY]) return undefined
    const chunks = Array.isArray(entry?.body) ? (entry.body as (Buffer | string)[]) : []
    const size = chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0)
    return size > this.#mostBytes ? undefined : entry
  }

  createWriteStream(key: Key, value: Value): Writable | undefined {
    if (value.statusCode >= 400 && !KEPT_ERRORS.includes(value.statusCode)) return undefined
    if (this.#circuit.isOpen || !hasLifetime(value)) return undefined
    const stored = identified(key)
    const vary = { ...value.vary, [IDENTITY]: stored.headers[IDENTITY] }
    try {
      return this.#store.createWriteStream(stored, { ...value, vary })
    } catch {
      return undefined
    }
  }

  async delete(key: Key): Promise<void> {
    try {
      await this.#store.delete(identified(key))
    } catch {
      // The entry then stays until it expires.
    }
  }
}

/** Stands for all headers of a request, as if each response said `vary: x-gateway-identity`. */
const IDENTITY = 'x-gateway-identity'

interface Identified extends Key {
  readonly headers: NonNullable<Key['headers']> & { readonly [IDENTITY]: string }
}

/**
 * The key with the identity of its request: everything that is sent, but the trace. An upstream that forgets a header in
 * `vary`, or another gateway on the same store, must not have one client's response served to another.
 */
function identified(key: Key): Identified {
  const { headers = {} } = key
  const sent = Object.entries(headers)
    .filter(([name]) => !isTraceHeader(name))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  return {
    ...key,
    // A space for each `*`, which no path has: undici-cache-redis 1.0 takes `/users/*` for a pattern.
    path: key.path.replaceAll('*', ' '),
    headers: { ...headers, [IDENTITY]: JSON.stringify(sent) },
  }
}

/** Whether the response says how long it is fresh, or to ask each time: undici guesses by `last-modified` otherwise. */
function hasLifetime({ headers, cacheControlDirectives: directives = {} }: Value): boolean {
  const names = ['max-age', 's-maxage', 'no-cache'] as const
  return names.some((name) => directives[name] !== undefined) || headers['expires'] !== undefined
}
