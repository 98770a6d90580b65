// A cache for many machines, in Redis or Valkey: what was revalidated in a stream, entries as strings.
//
// Each process asks Redis what is new before it answers, from memory too: whoever asks after something was appended is told
// of it. One question is enough for all requests that have come before it was sent, so under load it is far fewer than one
// for each.

import { hash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { deserialize, serialize } from 'node:v8'
import { FIRST_POSITION, tellChange, type Change, type ChangeReader, type Changes } from '../files/change-log.ts'
import { UNTOLD, type Entries, type Entry } from '../files/entry-folder.ts'

/** Where machines share a cache. */
export interface RedisCacheOptions {
  /** Sends a command to Redis or Valkey, such as `(command) => client.sendCommand(command)`. */
  redis: (command: string[]) => Promise<unknown>
  /** What the names of all keys begin with. @default 'next:' */
  prefix?: string
  /** Milliseconds that Redis may take to answer. @default 500 */
  timeout?: number
}

type Send = (...command: string[]) => Promise<unknown>

/** Changes that the stream has at least, if there are so many. */
const KEPT = 100_000
/** How many are read at once. */
const AT_ONCE = 1000
/** Milliseconds in which nobody asks again after Redis has failed. */
const PAUSE = 1000
/** Entries that nobody has made anew for that long are gone: seconds. */
const LONGEST = 30 * 24 * 3600

/** Sends commands, and gives up in time. */
export function inTime({ redis, timeout = 500 }: RedisCacheOptions): Send {
  let failedAt = -Infinity
  return async (...command) => {
    if (performance.now() - failedAt < PAUSE) throw new Error('Redis has failed a moment ago')
    const late = new AbortController()
    try {
      return await Promise.race([redis(command), rejectAfter(timeout, late.signal)])
    } catch (error) {
      // What Redis refuses it has answered.
      if (!isReply(error)) failedAt = performance.now()
      throw error
    } finally {
      late.abort()
    }
  }
}

async function rejectAfter(milliseconds: number, signal: AbortSignal): Promise<never> {
  await wait(milliseconds, undefined, { signal, ref: false })
  throw new Error(`Redis has not answered within ${milliseconds} ms`)
}

/** Errors of Redis begin with a word in capitals. */
function isReply(error: unknown): boolean {
  return error instanceof Error && /^[A-Z]+ /.test(error.message)
}

type Item = readonly [id: string, fields: readonly string[]]

/** A log of changes in a stream. */
export class RedisChanges implements Changes {
  readonly #send: Send
  readonly #key: string
  readonly #reader: ChangeReader
  /** The last one that was read. */
  #last: string | undefined
  /** Whether there was something that is not in the stream any more. */
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
    // One that was sent already may have been answered before what this one asks for.
    this.#next ??= this.#afterReading()
    return this.#next
  }

  async append(change: Change): Promise<void> {
    await this.#send('XADD', this.#key, 'MAXLEN', '~', String(KEPT), '*', 'change', JSON.stringify(change))
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
        // It was so long ago that it is gone, or somebody has emptied Redis.
        this.#last = undefined
        this.#isLost = true
        return this.#readNew()
      }
      for (const [id, [, text = '']] of items) {
        this.#last = id
        // One that cannot be read somebody else has written.
        tellChange(this.#reader, text, positionOf(id))
      }
      if (items.length < AT_ONCE - 1) return
    }
  }

  /** Nothing is lost of a stream that has never been cut. */
  async #begin(): Promise<void> {
    const length = Number(await this.#send('XLEN', this.#key))
    // There is one to be found again, also when somebody empties Redis.
    if (length === 0) await this.#send('XADD', this.#key, '*', 'change', '{"by":""}')
    const isWhole = length < KEPT && !this.#isLost
    const [first] = isWhole ? [] : await this.#items('-')
    this.#reader.lost(first === undefined ? FIRST_POSITION : positionOf(first[0]))
  }

  async #items(from: string): Promise<Item[]> {
    return (await this.#send('XRANGE', this.#key, from, '+', 'COUNT', String(AT_ONCE))) as Item[]
  }
}

/** A place in a stream is a time, and a number among those of that millisecond. */
function positionOf(id: string): number {
  const [time, number] = id.split('-').map(Number)
  return time! * 4096 + number!
}

/** Entries, one for each key. */
export class RedisEntries implements Entries {
  readonly #send: Send
  readonly #prefix: string

  constructor(send: Send, prefix: string) {
    this.#send = send
    this.#prefix = prefix
  }

  versionOf(): typeof UNTOLD {
    return UNTOLD
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
      // Written by a Node that has other formats.
      return undefined
    }
  }

  async write(key: string, entry: Entry): Promise<void> {
    const seconds = Math.ceil(Math.min(entry.cacheControl?.expire ?? LONGEST, LONGEST))
    const text = serialize(entry).toString('base64')
    await this.#send('SET', this.#keyOf(key), text, 'EX', String(Math.max(seconds, 1)))
  }

  #keyOf(key: string): string {
    return `${this.#prefix}entry:${hash('sha256', key)}`
  }
}
