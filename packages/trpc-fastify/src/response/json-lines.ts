// The answer to `httpBatchStreamLink`: one JSON document per line, the first with the outcome of every
// call that is known by then, the others with what was still to come. tRPC sends at least three lines a
// call through four web streams; clients decode both to the same.

import { isThenable } from '../runtime/sync-chain.ts'
import { TextStream } from './text-stream.ts'
import { isAsyncIterable, isPlainObject, isPromise, isStreamed } from '../runtime/value-kinds.ts'

/** What came of a call: its data, or the shape of its error; and whether one line can say all of it. */
export type Outcome =
  | { readonly data: unknown; readonly isWhole: boolean }
  | { readonly error: unknown; readonly isWhole: boolean }

export interface JsonLinesOptions {
  /** The transformer's. */
  readonly serialize: (chunk: unknown) => unknown
  /** The shape of an error that comes after its call was answered: in a promise or an iterable of the result. */
  readonly shapeOf: (error: unknown, index: number) => unknown
  /** Told of such errors, and of results that cannot be serialized. */
  readonly onError: (error: unknown) => void
  /** Milliseconds without a line after which a space is sent. */
  readonly pingMs: number | undefined
}

// The words of tRPC's protocol, see jsonl.ts of @trpc/server.
const [PROMISE, ITERABLE] = [0, 1]
const [FULFILLED, REJECTED] = [0, 1]
const [RETURN, YIELD, ERROR] = [0, 1, 2]
/** Stands where a promise or an iterable was. */
const PLACEHOLDER = 0

type Definition = [key: string | null, type: number, id: number]
type Encoded = [[unknown] | [], ...Definition[]]
/** Starts something whose id stands in the line before. */
type Later = () => void

/** The outcome of a call that gave data. It is looked into once: a getter may give another promise each time. */
export function outcomeOfData(data: unknown): Outcome {
  // As JSON, they are nothing in an object; in a line of their own, tRPC's `null`.
  if (typeof data === 'function' || typeof data === 'symbol') return { data, isWhole: false }
  if (isAsyncIterable(data)) return { data, isWhole: false }
  if (!isPlainObject(data)) return { data, isWhole: true }
  const values = Object.values(data)
  if (!values.some(isStreamed)) return { data, isWhole: true }
  for (const value of values) expectRejection(value)
  return { data: Object.fromEntries(Object.keys(data).map((key, index) => [key, values[index]])), isWhole: false }
}

/** The outcome of a call that failed. */
export function outcomeOfError(shape: unknown): Outcome {
  return { error: shape, isWhole: !isStreamed(shape) }
}

/** All lines at once where every outcome is there and nothing in it has to be waited for; else nothing. */
export function completeLines(
  outcomes: readonly (Outcome | Promise<Outcome>)[],
  options: JsonLinesOptions,
): string | undefined {
  const isComplete = outcomes.every((outcome) => !isThenable(outcome) && outcome.isWhole)
  return isComplete ? headLine((outcomes as readonly Outcome[]).map(plain), options) : undefined
}

/** The lines as they come. */
export class JsonLines extends TextStream {
  readonly #options: JsonLinesOptions
  readonly #iterators = new Set<AsyncIterator<unknown>>()
  /** Who goes on as soon as the client has read. */
  #waiting: (() => void)[] = []
  #ids = 0
  /** Promises and iterables that have lines to come. */
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
    for (const goOn of waiting) goOn()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#ping)
    this._read()
    for (const iterator of this.#iterators) {
      void this.#return(iterator)
    }
    done(error)
  }

  /** Nobody is there to read of an error in its `finally`, but somebody may log it. */
  async #return(iterator: AsyncIterator<unknown>): Promise<void> {
    try {
      await Promise.resolve(iterator.return?.()).catch((error: unknown) => this.#options.onError(error))
    } catch {
      // Whoever is told threw.
    }
  }

  /** Gives an id to what comes later, and puts its start on the list. */
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

  /** A promise: its line is the one of what it is fulfilled with, or of its error. */
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

  /** Only the values directly in an encoded object may be promises or iterables: each level is a line. */
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
      // As in tRPC, whichever way it ended: an iterator that is no generator may clean up here alone.
      if (!this.destroyed) await iterator.return?.()
    }
  }

  /** Writes one line, then starts what it speaks of, and waits while the client does not read. */
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

/** Starts what a line speaks of. The list is emptied: what takes long would hold the promises of all. */
function startAll(later: Later[]): void {
  for (const start of later.splice(0)) start()
}

function plain(outcome: Outcome): Encoded {
  return 'error' in outcome ? [[{ error: outcome.error }]] : [[{ result: { data: outcome.data } }]]
}

/** A call whose result cannot be serialized must not take the others with it. */
function headLine(head: readonly Encoded[], options: JsonLinesOptions): string {
  try {
    return lineOf(Object.fromEntries(head.entries()), options)
  } catch {
    const mended = head.map((encoded, index): Encoded => {
      try {
        lineOf(encoded, options)
        return encoded
      } catch (error) {
        options.onError(error)
        return [[{ error: options.shapeOf(error, index) }]]
      }
    })
    return lineOf(Object.fromEntries(mended.entries()), options)
  }
}

function lineOf(chunk: unknown, { serialize }: JsonLinesOptions): string {
  return `${JSON.stringify(serialize(chunk))}\n`
}

/**
 * What rejects before its line is due must not end the process as an unhandled rejection. Others than
 * promises may begin their work at `catch()`, as query builders do, and would do it twice.
 */
function expectRejection(value: unknown): void {
  if (value instanceof Promise) value.catch(() => {})
}
