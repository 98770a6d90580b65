// The body of an upstream's response, as JSON that is inserted unchanged into other JSON. Anything but exactly one JSON
// value is rejected, so that one upstream cannot write the data of another.

import { AsyncLocalStorage } from 'node:async_hooks'
import { isUtf8 } from 'node:buffer'
import { UpstreamFault } from '../errors.ts'
import type { Mapping } from './mapping.ts'
import type { Validate } from './schema-validator.ts'

/** Why a body is rejected. */
export class InvalidBodyError extends UpstreamFault {}

/** A body that is one JSON value. */
export class JsonBody {
  /** The JSON text, unchanged unless it was mapped. */
  readonly text: string
  readonly #makeValue: (text: string) => unknown
  #value: unknown
  #hasValue = false

  constructor(text: string, makeValue: (text: string) => unknown) {
    this.text = text
    this.#makeValue = makeValue
  }

  /** The parsed value. Numbers that a double cannot hold are `JSON.rawJSON`. Requests share it: never change it. */
  get value(): unknown {
    if (!this.#hasValue) {
      this.#value = this.#makeValue(this.text)
      this.#hasValue = true
    }
    return this.#value
  }

  /** A copy for one request, which may change it. */
  freshValue(): unknown {
    return exactValue(this.text)
  }
}

export interface JsonBodyOptions {
  /** Maximum nesting of arrays and objects. */
  readonly maxDepth: number
  readonly mapping: Mapping | undefined
  /** Only objects are accepted, because their members are merged with others. */
  readonly mustBeObject: boolean
  readonly validate?: Validate | undefined
}

/**
 * Reads the bodies of one call. The last body is cached until the call is idle: comparing an equal body costs a tenth of
 * parsing it. See docs/measurements.md#repeated-bodies
 */
export class JsonBodyReader {
  readonly #options: JsonBodyOptions
  #last: { readonly bytes: Buffer; readonly body: JsonBody } | undefined
  #isInUse = false

  constructor(options: JsonBodyOptions) {
    this.#options = options
  }

  /** @throws InvalidBodyError */
  read(bytes: Buffer): JsonBody {
    this.#isInUse = true
    if (this.#last?.bytes.equals(bytes)) return this.#last.body
    const body = readJson(bytes, this.#options)
    if (!this.#last) dropWhenIdle(this)
    this.#last = { bytes, body }
    return body
  }

  /** Drops the last body, unless one was read since the last check. Returns whether it is dropped. */
  dropIfIdle(): boolean {
    if (!this.#isInUse) this.#last = undefined
    this.#isInUse = false
    return this.#last === undefined
  }
}

/** Milliseconds between checks. The last body of a call is dropped after one or two without a read. */
const IDLE = 1000

const holding = new Set<JsonBodyReader>()
let timer: NodeJS.Timeout | undefined
/** A timer keeps the async context that it was made in, which must not be a request's. */
const inContextOfModule = AsyncLocalStorage.snapshot()

function dropWhenIdle(reader: JsonBodyReader): void {
  if (holding.size === 0) {
    if (timer) timer.refresh()
    else timer = inContextOfModule(() => setTimeout(dropIdle, IDLE).unref())
  }
  holding.add(reader)
}

function dropIdle(): void {
  for (const reader of holding) if (reader.dropIfIdle()) holding.delete(reader)
  if (holding.size > 0) timer!.refresh()
}

function readJson(bytes: Buffer, { maxDepth, mapping, mustBeObject, validate }: JsonBodyOptions): JsonBody {
  if (!isUtf8(bytes)) throw new InvalidBodyError('is not UTF-8')
  const text = bytes.toString()
  if (isDeeperThan(maxDepth, text)) throw new InvalidBodyError(`has more than ${maxDepth} levels`)
  let value: unknown
  try {
    // Rejects a byte order mark, too.
    value = JSON.parse(text)
  } catch {
    throw new InvalidBodyError('is not JSON')
  }
  const body = mapping ? mappedBody(mapping(exactValue(text))) : new JsonBody(text, exactValue)
  if (mustBeObject && !/^\s*\{/.test(body.text)) throw new InvalidBodyError('is not an object')
  const mismatch = validate?.(mapping ? JSON.parse(body.text) : value)
  // Clients get no values of a response that they are not to see.
  if (mismatch !== undefined)
    throw new InvalidBodyError('does not match its schema', { cause: new UpstreamFault(mismatch) })
  return body
}

function mappedBody(value: unknown): JsonBody {
  return new JsonBody(JSON.stringify(value), () => value)
}

/** An array of bodies in their order; an undefined one is `null`. */
export function arrayOfBodies(bodies: readonly (JsonBody | undefined)[]): JsonBody {
  return new JsonBody(`[${bodies.map((body) => body?.text ?? 'null').join(',')}]`, exactValue)
}

/** More digits than a double holds. */
const LONG_NUMBER = /\d{16}|\d[.\d]{16}/

interface ExactJson {
  parse: (text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown) => unknown
  rawJSON: (text: string) => unknown
}

/** Parses JSON. Numbers that a double cannot hold are serialized unchanged. */
function exactValue(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text)
  const { parse, rawJSON } = JSON as unknown as ExactJson
  return parse(text, (_key, one, { source }) =>
    typeof one === 'number' && source !== undefined && String(one) !== source ? rawJSON(source) : one,
  )
}

/** Whether arrays and objects are nested deeper than that. */
function isDeeperThan(maxDepth: number, text: string): boolean {
  if (countUpTo(maxDepth, text, '{') + countUpTo(maxDepth, text, '[') <= maxDepth) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) at = endOfString(text, at)
    else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      if (++depth > maxDepth) return true
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) depth--
  }
  return false
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d]

/** Returns where the string that begins at `start` ends, or the end of the text. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at
}

function countUpTo(limit: number, text: string, character: string): number {
  let count = 0
  for (let at = text.indexOf(character); at !== -1 && count <= limit; at = text.indexOf(character, at + 1)) count++
  return count
}
