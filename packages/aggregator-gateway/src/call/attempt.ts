// One request to an upstream: from its dispatch until its answer is read or given up.

import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'
import type { Dispatcher } from 'undici'
import type { DispatchHow, PooledRequest } from '../upstream/pool.ts'
import type { Exchange, Requester } from '../upstream/exchange.ts'
import { InvalidBodyError, type JsonBody, type JsonBodyReader } from './json-body.ts'
import { MissingTargetError } from './mapping.ts'
import type { ResponseCache } from '../cache/response-cache.ts'
import {
  CallError,
  type CallFailure,
  type CallOutcome,
  CANNOT_BE_SENT,
  GivenUpError,
  LATE,
  NOT_MADE,
} from './outcome.ts'
import type { Origin, Upstream } from '../upstream/upstream.ts'

/** Who waits for an attempt. */
export interface AttemptOwner {
  /** Told once, unless it was given up. */
  attemptEnded: (attempt: Attempt, outcome: CallOutcome) => void
}

const EMPTY = Buffer.alloc(0)
/** What 204 means, and a success whose body is empty and has no type. */
const NOTHING = Buffer.from('null')
export const TOO_LARGE = { reason: 'too-large', message: 'answered with more than is taken' } as const
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i
/** Of an answer's headers; their bytes are bounded by the connection pool. */
const MOST_HEADERS = 100

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

/** Where an attempt is sent, and how. */
export interface AttemptHow extends DispatchHow {
  /** Not there, if there is another origin. */
  readonly avoid?: Origin | undefined
  /** There was room for the request that it belongs to. */
  readonly isAccepted?: boolean
}

export class Attempt implements Dispatcher.DispatchHandler, Requester {
  readonly #owner: AttemptOwner
  readonly #reader: JsonBodyReader
  #controller: Dispatcher.DispatchController | undefined
  #origin: Origin | undefined
  /** It finds out whether a broken origin works again. */
  #isTry = false
  #isOver = false
  #status = 0
  #failure: CallFailure | undefined
  #decompress: Decompress | undefined
  #mostBytes = 0
  #first: Buffer | undefined
  #others: Buffer[] | undefined
  /** Its place in the queue or on a connection. With a cache, the exchange has it. */
  #request: PooledRequest | undefined
  #exchange: Exchange | undefined
  /** Where the answer may come from or go to, and what it is kept by. */
  #cache: ResponseCache | undefined
  #options: Dispatcher.DispatchOptions | undefined
  #originOfCache: Origin | undefined

  constructor(owner: AttemptOwner, reader: JsonBodyReader) {
    this.#owner = owner
    this.#reader = reader
  }

  /** Where it was sent. */
  get origin(): Origin | undefined {
    return this.#origin ?? this.#originOfCache
  }

  /** Whether bytes of it may have reached the upstream. */
  get isSent(): boolean {
    return this.#controller !== undefined
  }

  /** The status that the upstream has answered with; 0 as long as there is none. */
  get status(): number {
    return this.#status
  }

  dispatch(upstream: Upstream, options: Dispatcher.DispatchOptions, how: AttemptHow): void {
    this.#mostBytes = upstream.maxResponseSize
    if (upstream.cache) {
      this.#cache = upstream.cache
      this.#options = options
      return upstream.cache.dispatch(options, this, { ...how, requester: this })
    }
    const origin = upstream.choose(how.avoid, how.isAccepted ?? false)
    if (typeof origin === 'string') return this.#fail(NOT_MADE[origin])
    origin.pending++
    this.#origin = origin
    this.#isTry = origin.circuit?.begin() ?? false
    this.#request = origin.connections.dispatch(options, this, how)
  }

  exchangeBegan(one: Exchange): void {
    if (this.#isOver) one.cancel(false)
    else this.#exchange = one
  }

  /** Gives it up: nothing is told any more. `isLate` when it had its time: that counts against the origin. */
  abort(isLate: boolean): void {
    if (this.#isOver) return
    if (isLate && this.#request?.hadItsTime) this.#origin?.circuit?.failed()
    this.#end()
    if (this.#controller) this.#controller.abort(new GivenUpError(isLate))
    else (this.#exchange ?? this.#request)?.cancel(isLate)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (statusCode < 200 || this.#isOver) return
    this.#status = statusCode
    const isTooLong = Number(headers['content-length'] ?? 0) > this.#mostBytes
    if (isTooLong || (controller.rawHeaders as unknown[]).length > 2 * MOST_HEADERS) {
      this.#fail({ ...TOO_LARGE, status: statusCode })
      controller.abort(new Error('It is more than is taken'))
      return
    }
    // Read to its end all the same: the connection can be used again then.
    if (statusCode >= 300) {
      const retryAfter = headers['retry-after']
      this.#failure = {
        reason: 'status',
        message: `answered ${statusCode}`,
        status: statusCode,
        ...(typeof retryAfter === 'string' ? { retryAfter } : {}),
      }
      return
    }
    if (statusCode === 204) {
      this.#first = NOTHING
      return
    }
    const type = headers['content-type']
    if (type === undefined && headers['content-length'] === '0') {
      this.#first = NOTHING
      return
    }
    if (typeof type !== 'string' || !JSON_TYPE.test(type)) {
      const message = `answered with ${type === undefined ? 'no content type' : String(type)}, not JSON`
      this.#failure = { reason: 'content-type', message, status: statusCode }
      return
    }
    const encoding = headers['content-encoding']
    if (encoding === undefined || encoding === 'identity') return
    this.#decompress = DECOMPRESS[String(encoding).toLowerCase()]
    if (!this.#decompress) {
      const message = `answered with the content encoding ${String(encoding)}, which cannot be read`
      this.#failure = { reason: 'content-type', message, status: statusCode }
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#failure) return
    if (!this.#first) this.#first = chunk
    else (this.#others ??= [this.#first]).push(chunk)
  }

  onResponseEnd(): void {
    if (this.#isOver) return
    if (this.#failure) return this.#fail(this.#failure)
    const bytes = this.#others ? Buffer.concat(this.#others) : (this.#first ?? EMPTY)
    if (!this.#decompress) return this.#read(bytes)
    this.#decompress(bytes, { maxOutputLength: this.#mostBytes }, (error, result) => {
      if (this.#isOver) return
      if (!error) return this.#read(result)
      const isTooLarge = (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE'
      const damaged = { reason: 'body', message: 'answered with a body that cannot be decompressed' } as const
      this.#fail({ ...(isTooLarge ? TOO_LARGE : damaged), status: this.#status, cause: error })
    })
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return
    if (!(error instanceof CallError)) {
      const isReused = this.#request?.isReused ?? false
      return this.#fail(failureOf(error, { isSent: this.isSent, isReused, status: this.#status }))
    }
    this.#originOfCache = error.origin
    this.#fail(error.failure)
  }

  #read(bytes: Buffer): void {
    let body: JsonBody
    try {
      body = this.#reader.read(bytes)
    } catch (cause) {
      if (!(cause instanceof InvalidBodyError || cause instanceof MissingTargetError)) throw cause
      const message = `answered with a body that ${cause.message}`
      return this.#fail({ reason: 'body', message, status: this.#status, cause })
    }
    this.#origin?.circuit?.succeeded(this.#isTry)
    this.#end()
    this.#owner.attemptEnded(this, { body })
  }

  #fail(failure: CallFailure): void {
    if (isFaultOfOrigin(failure)) this.#origin?.circuit?.failed()
    else if (this.#status > 0) this.#origin?.circuit?.succeeded(this.#isTry)
    // What is of no use now is of no use later.
    if (this.#cache && (failure.reason === 'body' || failure.reason === 'content-type')) {
      this.#cache.forget(this.#options!)
    }
    this.#end()
    this.#owner.attemptEnded(this, { failure })
  }

  #end(): void {
    this.#isOver = true
    if (this.#origin) this.#origin.pending--
  }
}

/** Whether other requests will fare no better; an answer such as 404, or one that is too large, is about this request. */
export function isFaultOfOrigin({ reason, status = 0 }: CallFailure): boolean {
  return reason === 'connection' || reason === 'timeout' || (reason === 'status' && status >= 500)
}

/** What undici's errors mean to a gateway. */
export function failureOf(
  error: Error,
  { isSent, isReused, status }: { readonly isSent: boolean; readonly isReused: boolean; readonly status: number },
): CallFailure {
  const isUnseen = !isSent
  switch ((error as { code?: string }).code) {
    case 'UND_ERR_INVALID_ARG':
    case 'UND_ERR_NOT_SUPPORTED':
    case 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH':
    case 'UND_ERR_ABORTED':
      return { ...CANNOT_BE_SENT, cause: error }
    case 'UND_ERR_CONNECT_TIMEOUT':
      return { reason: 'timeout', message: 'did not connect in time', isUnseen, cause: error }
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
      return { ...LATE, cause: error }
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
    case 'UND_ERR_HEADERS_OVERFLOW':
      return { ...TOO_LARGE, cause: error }
    default: {
      const isOutdated = status === 0 && isSent && isReused
      return { reason: 'connection', message: 'did not answer', isUnseen, isOutdated, cause: error }
    }
  }
}
