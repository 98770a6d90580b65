// Reads an upstream's response: checks its head, collects and decompresses its body, and parses it.

import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'
import { type CallFailure, TOO_LARGE } from '../failure-reasons.ts'
import { InvalidBodyError, type JsonBody, type JsonBodyReader } from './json-body.ts'
import { MissingTargetError } from './mapping.ts'
import type { CallOutcome } from './outcome.ts'

/** The attempt that a response belongs to. */
export interface ResponseOwner {
  readonly isOver: boolean
  responseRead: (outcome: CallOutcome) => void
}

const EMPTY = Buffer.alloc(0)
/** The body of a 204, and of a success whose body is empty and has no type. */
const NULL = Buffer.from('null')
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i
/** Maximum number of response headers. The connection pool limits their bytes. */
const MAX_HEADERS = 100

type Decompress = (
  bytes: Buffer,
  options: { maxOutputLength: number },
  done: (error: Error | null, result: Buffer) => void,
) => void
const DECOMPRESS: Readonly<Record<string, Decompress>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: inflate,
  br: brotliDecompress,
  zstd: zstdDecompress,
}

export class ResponseReader {
  readonly #reader: JsonBodyReader
  readonly #maxBytes: number
  #status = 0
  #failure: CallFailure | undefined
  #decompress: Decompress | undefined
  #first: Buffer | undefined
  #others: Buffer[] | undefined

  constructor(reader: JsonBodyReader, maxBytes: number) {
    this.#reader = reader
    this.#maxBytes = maxBytes
  }

  /** The status of the response; 0 before it. */
  get status(): number {
    return this.#status
  }

  /** Checks the head. Returns the failure of a response that must not be read to its end. */
  start(
    status: number,
    headers: Record<string, string | string[] | undefined>,
    headerCount: number,
  ): CallFailure | undefined {
    this.#status = status
    if (Number(headers['content-length'] ?? 0) > this.#maxBytes || headerCount > MAX_HEADERS) {
      return { ...TOO_LARGE, status }
    }
    // An unsuccessful response is read, too: the connection can be reused then.
    if (status >= 300) this.#failure = statusFailure(status, headers['retry-after'])
    else this.#startBody(status, headers)
    return undefined
  }

  #startBody(status: number, headers: Record<string, string | string[] | undefined>): void {
    const { 'content-type': type, 'content-encoding': encoding } = headers
    if (status === 204 || (type === undefined && headers['content-length'] === '0')) {
      this.#first = NULL
      return
    }
    if (typeof type !== 'string' || !JSON_TYPE.test(type)) {
      const message = `responded with ${type === undefined ? 'no content type' : String(type)}, not JSON`
      this.#failure = { reason: 'content-type', message, status }
      return
    }
    if (encoding === undefined || encoding === 'identity') return
    this.#decompress = DECOMPRESS[String(encoding).toLowerCase()]
    if (!this.#decompress) {
      const message = `responded with the content encoding ${String(encoding)}, which cannot be read`
      this.#failure = { reason: 'content-type', message, status }
    }
  }

  data(chunk: Buffer): void {
    if (this.#failure) return
    if (!this.#first) this.#first = chunk
    else (this.#others ??= [this.#first]).push(chunk)
  }

  /** Passes the outcome to the owner: immediately, unless the body must be decompressed. */
  end(owner: ResponseOwner): void {
    if (this.#failure) return owner.responseRead({ failure: this.#failure })
    const bytes = this.#others ? Buffer.concat(this.#others) : (this.#first ?? EMPTY)
    if (!this.#decompress) return owner.responseRead(this.#read(bytes))
    this.#decompress(bytes, { maxOutputLength: this.#maxBytes }, (error, result) => {
      if (owner.isOver) return
      owner.responseRead(error ? { failure: this.#damaged(error) } : this.#read(result))
    })
  }

  #damaged(error: Error): CallFailure {
    const isTooLarge = (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE'
    const damaged = { reason: 'body', message: 'responded with a body that cannot be decompressed' } as const
    return { ...(isTooLarge ? TOO_LARGE : damaged), status: this.#status, cause: error }
  }

  #read(bytes: Buffer): CallOutcome {
    let body: JsonBody
    try {
      body = this.#reader.read(bytes)
    } catch (cause) {
      if (!(cause instanceof InvalidBodyError || cause instanceof MissingTargetError)) throw cause
      const message = `responded with a body that ${cause.message}`
      return { failure: { reason: 'body', message, status: this.#status, cause: cause.cause ?? cause } }
    }
    return { body }
  }
}

function statusFailure(status: number, retryAfter: string | string[] | undefined): CallFailure {
  return {
    reason: 'status',
    message: `responded ${status}`,
    status,
    ...(typeof retryAfter === 'string' ? { retryAfter } : {}),
  }
}
