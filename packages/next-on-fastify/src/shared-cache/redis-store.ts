// A cache for many machines, in Redis or Valkey: changes in a stream, entries as strings. Each process reads new changes
// before it responds, also for cached responses. One read serves all requests that arrived before it was sent.

import { hash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { deserialize, serialize } from 'node:v8'
import type { RedisCacheOptions } from '../options/types.ts'
import {
  type Change,
  type ChangeReader,
  type Changes,
  type Entries,
  type Entry,
  FIRST_POSITION,
  parseChange,
  UNKNOWN,
} from './store-contract.ts'

/** Sends a command to Redis. */
export type Send = (...command: string[]) => Promise<unknown>

/** Minimum number of changes that the stream retains. */
const MIN_RETAINED = 100_000
/** Number of changes per read. */
const PAGE_SIZE = 1000
/** Time without commands after a failure of Redis, in ms. */
const PAUSE = 1000
/** Maximum age of an entry, in seconds. */
const MAX_AGE = 30 * 24 * 3600

/** Returns a function that sends commands with a timeout. */
export function sendWithTimeout({ redis, timeout = 500 }: RedisCacheOptions): Send {
  let failedAt = -Infinity
  return async (...command) => {
    if (performance.now() - failedAt < PAUSE) throw new Error('Redis failed less than a second ago')
    const late = new AbortController()
    try {
      return await Promise.race([redis(command), rejectAfter(timeout, late.signal)])
    } catch (error) {
      // An error reply shows that Redis is available.
      if (!isReply(error)) failedAt = performance.now()
      throw error
    } finally {
      late.abort()
    }
  }
}

async function rejectAfter(milliseconds: number, signal: AbortSignal): Promise<never> {
  await wait(milliseconds, undefined, { signal, ref: false })
  throw new Error(`Redis timeout: no reply within ${milliseconds} ms`)
}

/** Error replies of Redis begin with a word in capitals. */
function isReply(error: unknown): boolean {
  return error instanceof Error && /^[A-Z]+ /.test(error.message)
}

type Item = readonly [id: string, fields: readonly string[]]

/** A log of changes in a stream. */
export class RedisChanges implements Changes {
  readonly #send: Send
  readonly #key: string
  readonly #reader: ChangeReader
  /** The ID of the last change that was read. */
  #last: string | undefined
  /** Whether the stream has lost changes. */
  #isLost = false
  #reading: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(send: Send, key: string, reader: ChangeReader) {
    this.#send = send
    this.#key = key
    this.#reader = reader
  }

  get position(): number {
    return this.#last === undefined ? FIRST_POSITION : positionOf(this.#last)
  }

  async read(): Promise<void> {
    // A read that is already on its way may miss the latest changes.
    this.#next ??= this.#afterReading()
    return this.#next
  }

  async append(change: Change): Promise<void> {
    await this.#send('XADD', this.#key, 'MAXLEN', '~', String(MIN_RETAINED), '*', 'change', JSON.stringify(change))
    await this.read()
  }

  close(): void {}

  async #afterReading(): Promise<void> {
    await this.#reading?.catch(() => {})
    this.#reading = this.#next
    this.#next = undefined
    await this.#readNew()
  }

  async #readNew(): Promise<void> {
    if (this.#last === undefined) await this.#begin()
    for (;;) {
      const items = await this.#items(this.#last ?? '-')
      if (this.#last !== undefined && items.shift()?.[0] !== this.#last) {
        // The last change was trimmed, or Redis was emptied.
        this.#last = undefined
        this.#isLost = true
        return this.#readNew()
      }
      for (const [id, [, text = '']] of items) {
        this.#last = id
        // A damaged change is from another writer.
        parseChange(this.#reader, text, positionOf(id))
      }
      if (items.length < PAGE_SIZE - 1) return
    }
  }

  /** A stream that was never trimmed has lost nothing. */
  async #begin(): Promise<void> {
    const length = Number(await this.#send('XLEN', this.#key))
    // The first change detects later that Redis was emptied.
    if (length === 0) await this.#send('XADD', this.#key, '*', 'change', '{"by":""}')
    const isWhole = length < MIN_RETAINED && !this.#isLost
    const [first] = isWhole ? [] : await this.#items('-')
    this.#reader.lost(first === undefined ? FIRST_POSITION : positionOf(first[0]))
  }

  async #items(from: string): Promise<Item[]> {
    return (await this.#send('XRANGE', this.#key, from, '+', 'COUNT', String(PAGE_SIZE))) as Item[]
  }
}

/** The ID of a change has a time in milliseconds, and a number within that millisecond. */
function positionOf(id: string): number {
  const [time, number] = id.split('-').map(Number)
  return time! * 4096 + number!
}

/** Entries in Redis, by key. */
export class RedisEntries implements Entries {
  readonly #send: Send
  readonly #prefix: string

  constructor(send: Send, prefix: string) {
    this.#send = send
    this.#prefix = prefix
  }

  versionOf(): typeof UNKNOWN {
    return UNKNOWN
  }

  version(): undefined {
    return undefined
  }

  async read(key: string): Promise<{ readonly entry: Entry; readonly bytes: number } | undefined> {
    const text = await this.#send('GET', this.#keyOf(key))
    if (typeof text !== 'string') return undefined
    const bytes = Buffer.from(text, 'base64')
    try {
      return { entry: deserialize(bytes) as Entry, bytes: bytes.length }
    } catch {
      // It was written by a Node with another format.
      return undefined
    }
  }

  async write(key: string, entry: Entry): Promise<void> {
    const seconds = Math.ceil(Math.min(entry.cacheControl?.expire ?? MAX_AGE, MAX_AGE))
    const text = serialize(entry).toString('base64')
    await this.#send('SET', this.#keyOf(key), text, 'EX', String(Math.max(seconds, 1)))
  }

  #keyOf(key: string): string {
    return `${this.#prefix}entry:${hash('sha256', key)}`
  }
}
