// The cache of transformed images for all processes, by Next's public interface. One process transforms an image, and the
// others wait for it. A lock decides which one. Without it, or after a long wait, a process transforms the image itself.

import { hash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { outsideRequests } from '../async-context/outside-requests.ts'
import type { FoundImage, ImageCacheHandler, ImageValue } from '../next/image-cache/image-cache-handler.ts'
import type { Availability } from './outage-log.ts'
import { type Entries, type Entry, LEASE, type Lock, type Locks } from './store-contract.ts'

/** Where images are stored. */
export interface ImageStore {
  readonly entries: Entries
  readonly locks: Locks
  readonly maxEntryBytes: number
  /** Names the build in all keys: a store may have images of several builds and apps. */
  readonly build: string
}

/** Whether images can be read and stored, for the log. */
export interface ImageAvailability {
  readonly reading: Availability
  readonly storing: Availability
}

/** Next gives up a source after 7 s, and a transform after another 7 s. */
const MAX_WAIT = 15_000
/** Pauses between checks for the image of another process, in ms. */
const MIN_PAUSE = 20
const MAX_PAUSE = 250
/** Interval in which a lock is extended, in ms, and how often. Next may forget a transform. */
const EXTENSION = LEASE / 5
const MAX_EXTENSIONS = 20
/** Time after which a stale image is removed from Redis, in seconds. */
const MAX_STALE = 24 * 3600

interface HeldLock {
  readonly lock: Lock
  readonly timer: NodeJS.Timeout
}

/** A handler whose images all processes have. */
export class SharedImages implements ImageCacheHandler {
  readonly #store: ImageStore
  readonly #reading: Availability
  readonly #storing: Availability
  /** Locks of images that this process transforms. */
  readonly #held = new Map<string, HeldLock>()

  constructor(store: ImageStore, { reading, storing }: ImageAvailability) {
    this.#store = store
    this.#reading = reading
    this.#storing = storing
  }

  async get(key: string): Promise<FoundImage | null> {
    try {
      const found = await this.#read(key)
      this.#reading.works()
      if (found === undefined) return await this.#missing(key)
      return isFresh(found) ? found : await this.#stale(key, found)
    } catch (error) {
      this.#reading.fails(error)
      return null
    }
  }

  async set(key: string, value: ImageValue): Promise<void> {
    try {
      if (value.buffer.length > this.#store.maxEntryBytes) return
      const name = this.#nameOf(key)
      await this.#store.entries.write(name, entryOf(name, value))
      this.#storing.works()
    } catch (error) {
      this.#storing.fails(error)
    } finally {
      this.#release(key)
    }
  }

  failed(key: string): void {
    this.#release(key)
  }

  close(): void {
    for (const key of this.#held.keys()) this.#release(key)
  }

  /** Waits for the image of another process. Null if this one transforms it. */
  async #missing(key: string): Promise<FoundImage | null> {
    const until = performance.now() + MAX_WAIT
    for (let pause = MIN_PAUSE; performance.now() < until; pause = Math.min(2 * pause, MAX_PAUSE)) {
      const isOwn = await this.#acquire(key)
      const found = await this.#read(key)
      if (found !== undefined) {
        if (isOwn) this.#release(key)
        return found
      }
      if (isOwn !== false) return null
      await wait(pause)
    }
    return null
  }

  /** While another process transforms it, others serve the stale image as Next does, and don't transform it. */
  async #stale(key: string, stale: FoundImage): Promise<FoundImage> {
    const isOwn = await this.#acquire(key)
    if (isOwn === undefined) return stale
    if (!isOwn) return { value: stale.value }
    const found = (await this.#read(key)) ?? stale
    if (isFresh(found)) this.#release(key)
    return found
  }

  /** Whether this process has the lock now. Undefined if there are no locks. */
  async #acquire(key: string): Promise<boolean | undefined> {
    let lock: Lock | undefined
    try {
      lock = await this.#store.locks.acquire(this.#nameOf(key))
    } catch (error) {
      this.#storing.fails(error)
      return undefined
    }
    if (lock === undefined) return false
    this.#release(key)
    this.#held.set(key, { lock, timer: outsideRequests(() => this.#extending(key, lock)) })
    return true
  }

  #extending(key: string, lock: Lock): NodeJS.Timeout {
    let extensions = 0
    return setInterval(() => {
      if (extensions++ === MAX_EXTENSIONS) this.#release(key)
      else lock.extend().catch(() => {})
    }, EXTENSION).unref()
  }

  #release(key: string): void {
    const held = this.#held.get(key)
    if (held === undefined) return
    clearInterval(held.timer)
    this.#held.delete(key)
    // It expires otherwise.
    held.lock.release().catch(() => {})
  }

  async #read(key: string): Promise<FoundImage | undefined> {
    const name = this.#nameOf(key)
    const read = await this.#store.entries.read(name)
    return read && imageIn(name, read.entry)
  }

  #nameOf(key: string): string {
    return `${this.#store.build}:${key}`
  }
}

function isFresh({ value, lastModified = 0 }: FoundImage): boolean {
  return lastModified + value.revalidate * 1000 >= Date.now()
}

function entryOf(key: string, value: ImageValue): Entry {
  const at = Date.now()
  const cacheControl = { revalidate: value.revalidate, expire: value.revalidate + MAX_STALE }
  return { key, renderId: digestOf(value.buffer), since: 0, begunAt: at, lastModified: at, cacheControl, value }
}

/** The image of an entry, unless it is damaged or of another key. */
function imageIn(key: string, { key: found, renderId, lastModified, value }: Entry): FoundImage | undefined {
  const image = value as Partial<ImageValue> | null
  const { kind, buffer, revalidate } = image ?? {}
  const isWhole =
    found === key &&
    kind === 'IMAGE' &&
    buffer instanceof Uint8Array &&
    renderId === digestOf(buffer) &&
    [image?.etag, image?.extension].every((text) => typeof text === 'string') &&
    [lastModified, revalidate].every(Number.isFinite)
  return isWhole ? { value: image as ImageValue, lastModified } : undefined
}

function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes)
}
