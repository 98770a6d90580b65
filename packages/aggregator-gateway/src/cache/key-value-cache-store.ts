// Caches responses in Redis, Valkey or any other key-value store, shared by all gateways that use it.

import { checkOptions } from 'checked-options'
import { isUtf8 } from 'node:buffer'
import { hash, randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import { callbackify } from 'node:util'
import { InvalidOptionError } from '../errors.ts'
import { keyValueCacheStoreSchema } from '../options/schema.ts'
import type { CacheStore, KeyValueCacheStoreOptions } from '../options/upstream-options.ts'

type Key = Parameters<CacheStore['get']>[0]
type Value = Parameters<CacheStore['createWriteStream']>[1]
type Entry = NonNullable<Awaited<ReturnType<CacheStore['get']>>>

/** A key-value store for text, with expiry. */
export interface KeyValueStore {
  get: (key: string) => Promise<unknown>
  /** Stores a value for that many milliseconds. */
  set: (key: string, value: string, milliseconds: number) => Promise<unknown>
  delete: (key: string) => Promise<unknown>
}

/** Per URL: the request headers that its responses vary by. Their values are part of each response's key. */
interface Index {
  readonly names: readonly string[]
  /** Part of each response's key: a new index makes old responses unreachable. */
  readonly id: string
  readonly deleteAt: number
}

type CachedResponse = Omit<Entry, 'body'> & { readonly text?: string; readonly base64?: string }

/**
 * A cache store for several machines, for the option `cache`.
 *
 * undici-cache-redis 1.0 finds a response by `SCAN`, which takes 420 ms with 100,000 keys. It also reads a `*` in a
 * path as a pattern. This store needs two `GET`, whose time does not depend on the number of keys. See
 * docs/measurements.md#cache-lookup
 *
 * @example
 * import { createClient } from 'redis'
 *
 * const redis = createClient({ url: 'redis://cache:6379', disableOfflineQueue: true })
 * redis.on('error', (error) => console.error(error))
 * redis.connect().catch(() => undefined) // Not awaited: it retries until Redis is there.
 * const store = new KeyValueCacheStore({
 *   get: (key) => redis.get(`gateway:${key}`),
 *   set: (key, value, milliseconds) => redis.set(`gateway:${key}`, value, { PX: milliseconds }),
 *   delete: (key) => redis.del(`gateway:${key}`),
 * })
 * const upstreams = { users: { origin: 'http://users:3000', cache: { store } } }
 */
export class KeyValueCacheStore implements CacheStore {
  readonly #store: KeyValueStore
  readonly #maxEntryBytes: number

  /** @throws AGGREGATOR_GATEWAY_INVALID_OPTION */
  constructor(store: KeyValueStore, options: KeyValueCacheStoreOptions = {}) {
    this.#store = store
    this.#maxEntryBytes = checkOptions(keyValueCacheStoreSchema, options, (message) => {
      return new InvalidOptionError(message)
    }).maxEntryBytes
  }

  async get(key: Key): Promise<Entry | undefined> {
    const index = await this.#index(key)
    if (!index) return undefined
    const text = await this.#store.get(keyOfResponse(key, index))
    if (typeof text !== 'string') return undefined
    const { text: body, base64, ...entry } = JSON.parse(text) as CachedResponse
    return { ...entry, body: [base64 === undefined ? Buffer.from(body ?? '') : Buffer.from(base64, 'base64')] }
  }

  createWriteStream(key: Key, value: Value): Writable {
    const chunks: Buffer[] = []
    const maxBytes = this.#maxEntryBytes
    let size = 0
    return new Writable({
      write(chunk: Buffer, _encoding, done) {
        size += chunk.length
        if (size <= maxBytes) chunks.push(chunk)
        // As in undici's stores: an incomplete body is not cached.
        else this.destroy()
        done()
      },
      final: (done) => {
        callbackify(() => this.#write(key, value, Buffer.concat(chunks)))(done)
      },
    })
  }

  async delete(key: Key): Promise<void> {
    await this.#store.delete(keyOfUrl(key))
  }

  async #index(key: Key): Promise<Index | undefined> {
    const text = await this.#store.get(keyOfUrl(key))
    return typeof text === 'string' ? (JSON.parse(text) as Index) : undefined
  }

  async #write(key: Key, value: Value, body: Buffer): Promise<void> {
    const before = await this.#index(key)
    const names = Object.keys(value.vary ?? {})
    const hasNames = before !== undefined && names.every((name) => before.names.includes(name))
    const index: Index = {
      // Keys of existing responses already contain these.
      names: hasNames ? before.names : [...new Set([...(before?.names ?? []), ...names])].toSorted(),
      id: hasNames ? before.id : randomUUID(),
      deleteAt: Math.max(value.deleteAt, hasNames ? before.deleteAt : 0),
    }
    const cached = { ...value, ...(isUtf8(body) ? { text: body.toString() } : { base64: body.toString('base64') }) }
    await this.#set(keyOfResponse(key, index), cached, value.deleteAt)
    if (index.deleteAt !== before?.deleteAt || !hasNames) await this.#set(keyOfUrl(key), index, index.deleteAt)
  }

  async #set(key: string, value: unknown, deleteAt: number): Promise<void> {
    const left = Math.floor(deleteAt - Date.now())
    if (left > 0) await this.#store.set(key, JSON.stringify(value), left)
  }
}

function keyOfUrl({ origin, path }: Key): string {
  return digest([origin, path])
}

function keyOfResponse({ origin, path, method, headers }: Key, { id, names }: Index): string {
  return digest([origin, path, id, method, ...names.map((name) => headers?.[name] ?? null)])
}

function digest(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url')
}
