// Protects the gateway from a cache store that fails, hangs or holds responses to other requests.

import type { Writable } from 'node:stream'
import { isTraceHeader } from '../http/header-rules.ts'
import type { CacheStore } from '../options/upstream-options.ts'
import { CircuitBreaker } from '../upstream/circuit-breaker.ts'
import type { StoreLog } from './store-log.ts'

type Key = Parameters<CacheStore['get']>[0]
type Value = Parameters<CacheStore['createWriteStream']>[1]
type Entry = NonNullable<Awaited<ReturnType<CacheStore['get']>>>

interface GuardOptions {
  readonly maxBytes: number
  readonly timeout: number
  readonly log: StoreLog
}

/** Error statuses that are cached if the response allows it. After other errors, the upstream is called again. */
const CACHED_ERRORS: readonly number[] = [404, 410]

const TOO_LATE = Symbol('too late')

/** A store that never makes a request fail, and never returns the response to a different request. */
export class GuardedStore implements CacheStore {
  readonly #store: CacheStore
  readonly #maxBytes: number
  readonly #timeout: number
  readonly #log: StoreLog
  /** Skips a store that hangs, so that requests do not wait for it each time. */
  readonly #circuit = new CircuitBreaker({ errorRate: 0.5, window: 20, resetTimeout: 1000 })

  constructor(store: CacheStore, { maxBytes, timeout, log }: GuardOptions) {
    this.#store = store
    this.#maxBytes = maxBytes
    this.#timeout = timeout
    this.#log = log
  }

  get(key: Key): Entry | undefined | Promise<Entry | undefined> {
    if (!this.#circuit.allows()) return undefined
    const isProbe = this.#circuit.acquire()
    const requested = identified(key)
    try {
      const found = this.#store.get(requested)
      if (found instanceof Promise) return this.#withTimeout(found, isProbe, requested)
      this.#circuit.succeeded(isProbe)
      return this.#usable(found, requested)
    } catch (error) {
      return this.#failed(error)
    }
  }

  async #withTimeout(
    found: Promise<Entry | undefined>,
    isProbe: boolean,
    requested: IdentifiedKey,
  ): Promise<Entry | undefined> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<typeof TOO_LATE>((resolve) => {
      timer = setTimeout(resolve, this.#timeout, TOO_LATE)
    })
    try {
      const entry = await Promise.race([found, late])
      if (entry !== TOO_LATE) {
        this.#circuit.succeeded(isProbe)
        return this.#usable(entry, requested)
      }
    } catch (error) {
      return this.#failed(error)
    } finally {
      clearTimeout(timer)
    }
    return this.#failed(new Error(`no reply within ${this.#timeout} ms`))
  }

  #failed(error: unknown): undefined {
    this.#circuit.failed()
    this.#log.write('get', error)
  }

  /** Other gateways, with other limits and other headers, may have written it. */
  #usable(entry: Entry | undefined, { headers }: IdentifiedKey): Entry | undefined {
    if (entry?.vary?.[IDENTITY] !== headers[IDENTITY]) return undefined
    const chunks = Array.isArray(entry?.body) ? (entry.body as (Buffer | string)[]) : []
    const size = chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0)
    return size > this.#maxBytes ? undefined : entry
  }

  createWriteStream(key: Key, value: Value): Writable | undefined {
    if (value.statusCode >= 400 && !CACHED_ERRORS.includes(value.statusCode)) return undefined
    if (this.#circuit.isOpen || !hasLifetime(value)) return undefined
    const stored = identified(key)
    const vary = { ...value.vary, [IDENTITY]: stored.headers[IDENTITY] }
    try {
      const stream = this.#store.createWriteStream(stored, { ...value, vary })
      // Before its end, a stream also fails with the body of the upstream.
      stream?.once('error', (error) => stream.writableEnded && this.#log.write('set', error))
      return stream
    } catch (error) {
      this.#log.write('set', error)
      return undefined
    }
  }

  async delete(key: Key): Promise<void> {
    try {
      await this.#store.delete(identified(key))
    } catch (error) {
      // The entry then stays until it expires.
      this.#log.write('delete', error)
    }
  }
}

/** Stands for all headers of a request, as if each response said `vary: x-gateway-identity`. */
const IDENTITY = 'x-gateway-identity'

interface IdentifiedKey extends Key {
  readonly headers: NonNullable<Key['headers']> & { readonly [IDENTITY]: string }
}

/**
 * The key with the identity of its request: everything that is sent, but the trace. An upstream that forgets a header in
 * `vary`, or another gateway on the same store, must not have one client's response served to another.
 */
function identified(key: Key): IdentifiedKey {
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
