// Keeps answers of an upstream for as long as they say, by undici's cache (RFC 9111), in a store that is given or in
// memory. It stands before the choice of an origin: what is kept is answered while all of them are broken, and what is
// asked for again in the background is counted and bounded as any other request.

import type { Writable } from 'node:stream'
import { cacheStores, type Dispatcher, interceptors } from 'undici'
import { Circuit } from './circuit.ts'
import { exchange, type ExchangeOptions, NO_CONTROLLER } from './exchange.ts'
import type { EndpointOptions, PassThroughEndpointOptions } from './options.ts'
import { CallError, CANNOT_BE_SENT } from './outcome.ts'
import type { Upstream } from './upstream.ts'

/** Where answers are kept: any cache store of undici. */
export type CacheStore = NonNullable<NonNullable<Parameters<typeof interceptors.cache>[0]>['store']>
type Key = Parameters<CacheStore['get']>[0]
type Value = Parameters<CacheStore['createWriteStream']>[1]
type Entry = NonNullable<Awaited<ReturnType<CacheStore['get']>>>

/** How an upstream's answers are kept. */
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

/** Statuses from 400 on that are kept when the answer allows it: an upstream that fails now is asked again. */
const KEPT_ERRORS: readonly number[] = [404, 410]

/**
 * The answers of an upstream that are kept. undici's cache spares the upstream and the way to it rather than the
 * gateway: by `inject()` on Node 24.21, with answers of 500 bytes from a server on the same machine, a request cost
 * 81 µs of CPU without a cache, 70 µs with one that had the answer, and 104 µs with one that had to keep it first.
 */
export class ResponseCache {
  readonly #url: string
  readonly #store: GuardedStore
  readonly #dispatch: Dispatcher.Dispatch
  /**
   * What is asked for again in the background, or has lost its client on the way, has nobody who ends it: undici's
   * timeouts do.
   */
  readonly #longest: number

  /**
   * `requestHeaders` are the names of all headers that requests may differ in, `longest` the milliseconds after which
   * nobody waits for an answer any more.
   */
  constructor(upstream: Upstream, options: CacheOptions, requestHeaders: readonly string[], longest: number) {
    const { store, storeTimeout = 100, maxSize = 33_554_432, maxCount = 1024, maxEntrySize = 1_048_576 } = options
    this.#url = upstream.url
    this.#longest = longest
    this.#store = new GuardedStore(store ?? new cacheStores.MemoryCacheStore({ maxSize, maxCount, maxEntrySize }), {
      requestHeaders,
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

  /** Drops what is kept of that path. */
  forget({ path }: Dispatcher.DispatchOptions): void {
    void this.#store.delete({ origin: this.#url, method: 'GET', path })
  }
}

/** What comes out of undici's cache as it went in, with other headers. */
interface Request extends Dispatcher.DispatchOptions {
  how?: ExchangeOptions
}

function sending(upstream: Upstream): Dispatcher.Dispatch {
  return (options: Request, handler) => {
    exchange(upstream, options, handler, options.how)
    return true
  }
}

/** Names of all headers that requests to an upstream may have. */
export function requestHeadersTo(
  upstream: string,
  endpoints: readonly (EndpointOptions | PassThroughEndpointOptions)[],
): readonly string[] {
  const requests = endpoints.flatMap((endpoint) =>
    'passThrough' in endpoint && endpoint.passThrough ? [endpoint.passThrough] : Object.values(endpoint.calls ?? {}),
  )
  const names = requests
    .filter((request) => request.upstream === upstream)
    .flatMap(({ headers = {}, forwardHeaders = [] }) => [
      ...Object.keys(headers).map((name) => name.toLowerCase()),
      ...forwardHeaders,
    ])
  return [...new Set(['accept', ...names])]
}

interface GuardOptions {
  readonly requestHeaders: readonly string[]
  readonly mostBytes: number
  readonly timeout: number
}

const TOO_LATE = Symbol('too late')

/** A store that never makes a request fail, and in which no request finds what was answered to another one. */
class GuardedStore implements CacheStore {
  readonly #store: CacheStore
  readonly #requestHeaders: readonly string[]
  readonly #mostBytes: number
  readonly #timeout: number
  /** A store that hangs is not waited for each time. */
  readonly #circuit = new Circuit({})

  constructor(store: CacheStore, { requestHeaders, mostBytes, timeout }: GuardOptions) {
    this.#store = store
    this.#requestHeaders = requestHeaders
    this.#mostBytes = mostBytes
    this.#timeout = timeout
  }

  get(key: Key): Entry | undefined | Promise<Entry | undefined> {
    if (!this.#circuit.allows()) return undefined
    const isTry = this.#circuit.begin()
    try {
      const found = this.#store.get(plain(key))
      if (found instanceof Promise) return this.#inTime(found, isTry)
      this.#circuit.succeeded(isTry)
      return this.#usable(found)
    } catch {
      this.#circuit.failed()
      return undefined
    }
  }

  async #inTime(found: Promise<Entry | undefined>, isTry: boolean): Promise<Entry | undefined> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<typeof TOO_LATE>((resolve) => {
      timer = setTimeout(resolve, this.#timeout, TOO_LATE)
    })
    try {
      const entry = await Promise.race([found, late])
      if (entry !== TOO_LATE) {
        this.#circuit.succeeded(isTry)
        return this.#usable(entry)
      }
    } catch {
      // As good as too late.
    } finally {
      clearTimeout(timer)
    }
    this.#circuit.failed()
    return undefined
  }

  /** Other gateways with other limits may have written it. */
  #usable(entry: Entry | undefined): Entry | undefined {
    const chunks = Array.isArray(entry?.body) ? (entry.body as (Buffer | string)[]) : []
    const size = chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0)
    return size > this.#mostBytes ? undefined : entry
  }

  createWriteStream(key: Key, value: Value): Writable | undefined {
    if (value.statusCode >= 400 && !KEPT_ERRORS.includes(value.statusCode)) return undefined
    if (this.#circuit.isOpen) return undefined
    // An upstream that forgets a header in `vary` must not answer one client's question to another: whatever a
    // request can differ in is compared.
    const vary = { ...value.vary }
    for (const name of this.#requestHeaders) vary[name] = key.headers?.[name] ?? null
    try {
      return this.#store.createWriteStream(plain(key), { ...value, vary })
    } catch {
      return undefined
    }
  }

  async delete(key: Key): Promise<void> {
    try {
      await this.#store.delete(plain(key))
    } catch {
      // It is over when its time is, then.
    }
  }
}

/** With a space for each `*`, which no path has: undici-cache-redis 1.0 finds `/users/alice` when asked for `/users/*`. */
function plain(key: Key): Key {
  return key.path.includes('*') ? { ...key, path: key.path.replaceAll('*', ' ') } : key
}
