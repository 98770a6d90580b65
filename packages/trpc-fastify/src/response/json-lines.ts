// The body for `httpBatchStreamLink`: one JSON document per line. The first line has all outcomes that are known by then,
// further lines have the rest. tRPC sends at least three lines per call through four web streams. Clients decode both to
// the same results.

import { isThenable } from '../runtime/sync-chain.ts'
import { TextStream } from './text-stream.ts'
import { isAsyncIterable, isPlainObject, isPromise, isStreamed } from '../runtime/type-guards.ts'

/** The data of a call or the shape of its error, and whether it fits into one line. */
export type Outcome =
  | { readonly data: unknown; readonly isWhole: boolean }
  | { readonly error: unknown; readonly isWhole: boolean }

export interface JsonLinesOptions {
  /** `serialize` of the transformer. */
  readonly serialize: (chunk: unknown) => unknown
  /** Returns the shape of a late error, which a promise or an iterable in the result threw. */
  readonly shapeOf: (error: unknown, index: number) => unknown
  /** Reports such errors, and those of results that cannot be serialized. */
  readonly onError: (error: unknown) => void
  /** Time without a line before a space is sent, in milliseconds. */
  readonly pingMs: number | undefined
}

// Codes of tRPC's protocol, see jsonl.ts of @trpc/server.
const [PROMISE, ITERABLE] = [0, 1]
const [FULFILLED, REJECTED] = [0, 1]
const [RETURN, YIELD, ERROR] = [0, 1, 2]
/** Replaces a promise or an iterable. */
const PLACEHOLDER = 0

type Definition = [key: string | null, type: number, id: number]
type Encoded = [[unknown] | [], ...Definition[]]
/** Starts a promise or an iterable after the line that has its id. */
type Later = () => void

/** Returns the outcome of a successful call. It reads the data once, as a getter may return another promise each time. */
export function outcomeOfData(data: unknown): Outcome {
  // JSON omits them in an object. In a line of their own, tRPC sends `null`.
  if (typeof data === 'function' || typeof data === 'symbol') return { data, isWhole: false }
  if (isAsyncIterable(data)) return { data, isWhole: false }
  if (!isPlainObject(data)) return { data, isWhole: true }
  const values = Object.values(data)
  if (!values.some(isStreamed)) return { data, isWhole: true }
  for (const value of values) expectRejection(value)
  return { data: Object.fromEntries(Object.keys(data).map((key, index) => [key, values[index]])), isWhole: false }
}

/** Returns the outcome of a failed call. */
export function outcomeOfError(shape: unknown): Outcome {
  return { error: shape, isWhole: !isStreamed(shape) }
}

/** Returns all lines if every outcome is known and has no promise or iterable. Otherwise returns undefined. */
export function completeLines(
  outcomes: readonly (Outcome | Promise<Outcome>)[],
  options: JsonLinesOptions,
): string | undefined {
  const isComplete = outcomes.every((outcome) => !isThenable(outcome) && outcome.isWhole)
  return isComplete ? headLine((outcomes as readonly Outcome[]).map(plain), options) : undefined
}

/** A stream of lines. */
export class JsonLines extends TextStream {
  readonly #options: JsonLinesOptions
  readonly #iterators = new Set<AsyncIterator<unknown>>()
  /** Iterables that continue after the client has read. */
  #waiting: (() => void)[] = []
  #ids = 0
  /** Number of promises and iterables with further lines. */
  #open = 0
  #ping: NodeJS.Timeout | undefined

  constructor(outcomes: readonly (Outcome | Promise<Outcome>)[], options: JsonLinesOptions) {
    super()
    this.#options = options
    const later: Later[] = []
    const head = outcomes.map((outcome, index): Encoded => {
      if (!isThenable(outcome)) return this.#encodeOutcome(outcome, index, later)
      const definition = this.#promised(null, outcome, index, later, (settled, inner) =>
        this.#encodeOutcome(settled, index, inner),
      )
      return [[PLACEHOLDER], definition]
    })
    this.add(headLine(head, options))
    startAll(later)
    this.#armPing()
  }

  override _read(): void {
    super._read()
    const waiting = this.#waiting
    this.#waiting = []
    for (const resume of waiting) resume()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#ping)
    this._read()
    for (const iterator of this.#iterators) {
      void this.#return(iterator)
    }
    done(error)
  }

  /** Reports an error of the iterator's `finally`, although no client reads it. */
  async #return(iterator: AsyncIterator<unknown>): Promise<void> {
    try {
      await Promise.resolve(iterator.return?.()).catch((error: unknown) => this.#options.onError(error))
    } catch {
      // `onError` threw.
    }
  }

  /** Assigns an id to a promise or an iterable, and adds its start to the list. */
  #later(key: string | null, type: number, later: Later[], begin: (id: number) => Promise<void>): Definition {
    const id = this.#ids++
    this.#open++
    later.push(() => {
      begin(id)
        .catch((error: Error) => this.destroy(error))
        .finally(() => {
          this.#open--
          if (this.#open > 0 || this.destroyed) return
          clearTimeout(this.#ping)
          this.finish()
        })
    })
    return [key, type, id]
  }

  /** Adds a promise, whose line has its value or its error. */
  #promised<T>(
    key: string | null,
    promise: PromiseLike<T>,
    index: number,
    later: Later[],
    encode: (found: T, inner: Later[]) => Encoded,
  ): Definition {
    return this.#later(key, PROMISE, later, async (id) => {
      let found: T
      try {
        found = await promise
      } catch (error) {
        return this.#fail(index, id, REJECTED, error)
      }
      await this.#line(index, id, FULFILLED, REJECTED, (inner) => encode(found, inner))
    })
  }

  /** Each level is a line, so only direct values of an encoded object may be promises or iterables. */
  #encodeOutcome(outcome: Outcome, index: number, later: Later[]): Encoded {
    if (outcome.isWhole) return plain(outcome)
    if ('error' in outcome) return this.#encode({ error: outcome.error }, index, later)
    const { data } = outcome
    const next = (key: string, encode: (inner: Later[]) => Encoded, list: Later[]): Definition =>
      this.#later(key, PROMISE, list, async (id) => {
        await this.#line(index, id, FULFILLED, REJECTED, encode)
      })
    const ofData = (inner: Later[]): Encoded =>
      isAsyncIterable(data)
        ? this.#encode({ data }, index, inner)
        : [[{ data: PLACEHOLDER }], next('data', (innermost) => this.#encode(data, index, innermost), inner)]
    return [[{ result: PLACEHOLDER }], next('result', ofData, later)]
  }

  #encode(value: unknown, index: number, later: Later[]): Encoded {
    if (value === undefined) return [[]]
    const whole = this.#encodeStreamed(null, value, index, later)
    if (whole) return [[PLACEHOLDER], whole]
    if (!isPlainObject(value)) return [[value]]
    const encoded = Object.create(null) as Record<string, unknown>
    const definitions: Definition[] = []
    for (const [key, item] of Object.entries(value)) {
      const definition = this.#encodeStreamed(key, item, index, later)
      encoded[key] = definition ? PLACEHOLDER : item
      if (definition) definitions.push(definition)
    }
    return [[encoded], ...definitions]
  }

  #encodeStreamed(key: string | null, value: unknown, index: number, later: Later[]): Definition | undefined {
    if (isPromise(value)) {
      expectRejection(value)
      return this.#promised(key, value, index, later, (found, inner) => this.#encode(found, index, inner))
    }
    if (!isAsyncIterable(value)) return undefined
    return this.#later(key, ITERABLE, later, (id) => this.#iterate(value, index, id))
  }

  async #iterate(iterable: AsyncIterable<unknown>, index: number, id: number): Promise<void> {
    const iterator = iterable[Symbol.asyncIterator]()
    this.#iterators.add(iterator)
    try {
      for (;;) {
        const next = await iterator.next()
        if (this.destroyed) return
        const status = next.done ? RETURN : YIELD
        const isWritten = await this.#line(index, id, status, ERROR, (later) => this.#encode(next.value, index, later))
        if (next.done || !isWritten) return
      }
    } catch (error) {
      this.#fail(index, id, ERROR, error)
    } finally {
      this.#iterators.delete(iterator)
      // As in tRPC, also after a regular end: an iterator without `finally` may clean up only here.
      if (!this.destroyed) await iterator.return?.()
    }
  }

  /** Writes one line, starts its promises and iterables, and waits until the client reads. */
  async #line(
    index: number,
    id: number,
    status: number,
    failed: number,
    encode: (later: Later[]) => Encoded,
  ): Promise<boolean> {
    if (this.destroyed) return false
    const later: Later[] = []
    let line: string
    try {
      line = lineOf([id, status, encode(later)], this.#options)
    } catch (error) {
      this.#open -= later.length
      this.#fail(index, id, failed, error)
      return false
    }
    this.add(line)
    this.#armPing()
    startAll(later)
    if (this.isFull) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return true
  }

  #fail(index: number, id: number, status: number, error: unknown): void {
    this.#options.onError(error)
    if (this.destroyed) return
    this.add(lineOf([id, status, this.#options.shapeOf(error, index)], this.#options))
  }

  #armPing(): void {
    const { pingMs } = this.#options
    if (!pingMs || this.destroyed) return
    clearTimeout(this.#ping)
    this.#ping = setTimeout(() => {
      this.add(' ')
      this.#armPing()
    }, pingMs)
  }
}

/** Starts the promises and iterables of a line. It empties the list, so that a slow one does not retain the others. */
function startAll(later: Later[]): void {
  for (const start of later.splice(0)) start()
}

function plain(outcome: Outcome): Encoded {
  return 'error' in outcome ? [[{ error: outcome.error }]] : [[{ result: { data: outcome.data } }]]
}

/** Returns the first line. A result that cannot be serialized fails only its own call. */
function headLine(head: readonly Encoded[], options: JsonLinesOptions): string {
  try {
    return lineOf(Object.fromEntries(head.entries()), options)
  } catch {
    const repaired = head.map((encoded, index): Encoded => {
      try {
        lineOf(encoded, options)
        return encoded
      } catch (error) {
        options.onError(error)
        return [[{ error: options.shapeOf(error, index) }]]
      }
    })
    return lineOf(Object.fromEntries(repaired.entries()), options)
  }
}

function lineOf(chunk: unknown, { serialize }: JsonLinesOptions): string {
  return `${JSON.stringify(serialize(chunk))}\n`
}

/**
 * Prevents an unhandled rejection if a promise rejects before its line. It handles only real promises: on lazy thenables such
 * as query builders, `catch()` would run the query twice.
 */
function expectRejection(value: unknown): void {
  if (value instanceof Promise) value.catch(() => {})
}
