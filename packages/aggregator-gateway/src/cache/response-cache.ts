// Caches responses of an upstream with undici's cache (RFC 9111), in a given store or in memory. The cache comes before
// the choice of an origin: it responds while all origins are broken, and background revalidations are counted and
// limited like other requests.

import { cacheStores, type Dispatcher, interceptors } from 'undici'
import { UNSENDABLE } from '../failure-reasons.ts'
import type { ResolvedCache } from '../options/resolved.ts'
import type { CacheStore } from '../options/upstream-options.ts'
import { exchange, ExchangeError, type ExchangeOptions, NO_CONTROLLER } from '../upstream/exchange.ts'
import type { Upstream, UpstreamCache } from '../upstream/upstream.ts'
import { GuardedStore } from './guarded-store.ts'
import type { StoreLog } from './store-log.ts'

/**
 * The response cache of an upstream. undici's cache saves load of the upstream and the network rather than of the
 * gateway: a hit takes 14 % less CPU, a miss takes more. See docs/measurements.md#undici-cache
 */
export class ResponseCache implements UpstreamCache {
  readonly #url: string
  readonly #store: GuardedStore
  readonly #dispatch: Dispatcher.Dispatch
  /** Timeout of undici, the only one for background revalidations and for requests whose client has left. */
  readonly #maxTimeout: number

  /** `maxTimeout`: the longest timeout of an endpoint, in ms. No client waits longer for a response. */
  constructor(upstream: Upstream, options: ResolvedCache, maxTimeout: number, log: StoreLog) {
    const { store, storeTimeout } = options
    this.#url = upstream.url
    this.#maxTimeout = maxTimeout
    this.#store = new GuardedStore(store ?? memoryStore(options), {
      maxBytes: upstream.maxResponseBytes,
      timeout: storeTimeout,
      log,
    })
    const compose: (dispatch: Dispatcher.Dispatch, origin: string) => Dispatcher.Dispatch = interceptors.cache({
      store: this.#store,
      methods: ['GET'],
      type: 'shared',
    })
    this.#dispatch = compose(dispatchTo(upstream), this.#url)
  }

  dispatch(
    request: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    exchangeOptions: ExchangeOptions,
  ): void {
    const cachedRequest: CachedRequest = {
      ...request,
      exchangeOptions,
      headersTimeout: this.#maxTimeout,
      bodyTimeout: this.#maxTimeout,
    }
    try {
      this.#dispatch(cachedRequest, handler)
    } catch (cause) {
      handler.onResponseError?.(NO_CONTROLLER, new ExchangeError({ ...UNSENDABLE, cause }))
    }
  }

  forget({ path }: Dispatcher.DispatchOptions): void {
    void this.#store.delete({ origin: this.#url, method: 'GET', path })
  }
}

/** A request that passes through undici's cache unchanged, except for its headers. */
interface CachedRequest extends Dispatcher.DispatchOptions {
  exchangeOptions?: ExchangeOptions
}

function memoryStore({
  maxBytes: maxSize = 33_554_432,
  maxEntries: maxCount = 1024,
  maxEntryBytes: maxEntrySize = 1_048_576,
}: ResolvedCache): CacheStore {
  return new cacheStores.MemoryCacheStore({ maxSize, maxCount, maxEntrySize })
}

function dispatchTo(upstream: Upstream): Dispatcher.Dispatch {
  return (request: CachedRequest, handler) => {
    exchange(upstream, request, handler, request.exchangeOptions)
    return true
  }
}
