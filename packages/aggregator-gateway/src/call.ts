// One request to an upstream: from its dispatch until its answer is read or given up.

import type { Dispatcher } from 'undici'
import { InvalidBodyError, type JsonBody, type JsonBodyReader } from './json-body.ts'
import { MissingTargetError } from './mapping.ts'
import type { Upstream } from './upstream.ts'

/** Why a call has no answer. */
type FailureReason =
  | 'timeout'
  | 'connection'
  | 'status'
  | 'content-type'
  | 'body'
  | 'too-large'
  | 'overloaded'
  | 'dependency'

export interface CallFailure {
  readonly reason: FailureReason
  /** In words, to follow the call's name. */
  readonly message: string
  /** The upstream's status, where it has answered. */
  readonly status?: number
  readonly cause?: unknown
}

/** What came of a call. */
export type CallOutcome = { readonly body: JsonBody } | { readonly failure: CallFailure }

const EMPTY = Buffer.alloc(0)
/** What 204 means. */
const NOTHING = Buffer.from('null')
const TOO_LARGE = { reason: 'too-large', message: 'answered with more than is taken' } as const
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i

export class UpstreamCall implements Dispatcher.DispatchHandler {
  readonly #reader: JsonBodyReader
  readonly #settled: (outcome: CallOutcome, index: number) => void
  readonly #index: number
  #controller: Dispatcher.DispatchController | undefined
  #origin: { pending: number } | undefined
  #isOver = false
  #failure: CallFailure | undefined
  #mostBytes = 0
  #first: Buffer | undefined
  #others: Buffer[] | undefined

  constructor(index: number, reader: JsonBodyReader, settled: (outcome: CallOutcome, index: number) => void) {
    this.#index = index
    this.#reader = reader
    this.#settled = settled
  }

  /** Sends it; whatever happens is told by `settled`, once. */
  dispatch(upstream: Upstream, options: Dispatcher.DispatchOptions): void {
    const origin = upstream.choose()
    if (!origin) return this.#fail({ reason: 'overloaded', message: 'has too many calls to wait for' })
    origin.pending++
    this.#origin = origin
    this.#mostBytes = upstream.maxResponseSize
    try {
      origin.pool.dispatch(options, this)
    } catch (cause) {
      this.#fail({ reason: 'connection', message: 'cannot be called', cause })
    }
  }

  /** Gives it up: nothing is told any more. */
  abort(): void {
    if (this.#isOver) return
    this.#end()
    this.#controller?.abort(new Error('Nobody waits for this answer any more'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // It was given up while it waited for a connection.
    if (this.#isOver) controller.abort(new Error('Nobody waits for this answer any more'))
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (statusCode < 200 || this.#isOver) return
    if (Number(headers['content-length'] ?? 0) > this.#mostBytes) {
      this.#fail({ ...TOO_LARGE, status: statusCode })
      controller.abort(new Error('It is more than is taken'))
      return
    }
    // Read to its end all the same: the connection can be used again then.
    if (statusCode >= 300) {
      this.#failure = { reason: 'status', message: `answered ${statusCode}`, status: statusCode }
    } else if (statusCode === 204) {
      this.#first = NOTHING
    } else if (!JSON_TYPE.test(String(headers['content-type'] ?? ''))) {
      const type = String(headers['content-type'] ?? 'no content type')
      this.#failure = { reason: 'content-type', message: `answered with ${type}, not JSON`, status: statusCode }
    } else if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity') {
      const message = `answered with the content encoding ${String(headers['content-encoding'])}, which nobody asked for`
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
    let body: JsonBody
    try {
      body = this.#reader.read(bytes)
    } catch (cause) {
      if (!(cause instanceof InvalidBodyError || cause instanceof MissingTargetError)) throw cause
      return this.#fail({ reason: 'body', message: `answered with a body that ${cause.message}`, cause })
    }
    this.#end()
    this.#settled({ body }, this.#index)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#isOver) this.#fail(failureOf(error))
  }

  #fail(failure: CallFailure): void {
    this.#end()
    this.#settled({ failure }, this.#index)
  }

  #end(): void {
    this.#isOver = true
    if (this.#origin) this.#origin.pending--
  }
}

/** What undici's errors mean to a gateway. */
function failureOf(error: Error): CallFailure {
  switch ((error as { code?: string }).code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
      return { reason: 'timeout', message: 'did not connect in time', cause: error }
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
    case 'UND_ERR_HEADERS_OVERFLOW':
      return { ...TOO_LARGE, cause: error }
    default:
      return { reason: 'connection', message: 'did not answer', cause: error }
  }
}
