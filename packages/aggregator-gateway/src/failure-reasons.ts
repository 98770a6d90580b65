// Why a call fails or is aborted, and the error that the client gets for it.

import { CircuitOpenError, OverloadedError, UpstreamFailedError, UpstreamTimeoutError } from './errors.ts'

/** Why a call has no response. */
export type FailureReason =
  | 'timeout'
  | 'connection'
  | 'status'
  | 'content-type'
  | 'body'
  | 'too-large'
  | 'overloaded'
  | 'circuit-open'
  | 'dependency'
  | 'request'

export interface CallFailure {
  readonly reason: FailureReason
  /** In words, to follow the call's name. */
  readonly message: string
  /** The upstream's status, if it has responded. */
  readonly status?: number
  /** The upstream's `retry-after` header. */
  readonly retryAfter?: string
  /** No byte of the request was sent. */
  readonly isUnsent?: boolean
  /** A keep-alive connection was closed as the request was sent: the server may not have seen it. */
  readonly isStaleSocket?: boolean
  readonly cause?: unknown
}

/** Why a call was aborted, although nothing failed. */
export interface Aborted {
  readonly reason: 'client-left' | 'aborted'
  readonly message: string
}

export const CLIENT_LEFT: Aborted = { reason: 'client-left', message: 'was aborted: the client left' }
export const NOT_NEEDED: Aborted = { reason: 'aborted', message: 'was aborted: another required call failed' }

export const GATEWAY_CLOSES: Aborted = { reason: 'aborted', message: 'was aborted: the gateway closes' }

/** The request itself is invalid, such as a header with forbidden characters: no origin is at fault. */
export const UNSENDABLE = { reason: 'request', message: 'cannot be sent as a request' } as const
export const LATE: CallFailure = { reason: 'timeout', message: 'did not respond in time' }
export const TOO_LARGE = { reason: 'too-large', message: 'responded with more than is allowed' } as const

/** Why an upstream rejects a request before it is sent. */
export type Rejection = 'overloaded' | 'too-many-streams' | 'circuit-open'

export const REJECTIONS: Readonly<Record<Rejection, CallFailure>> = {
  overloaded: { reason: 'overloaded', message: 'was rejected: the queue is full' },
  'too-many-streams': { reason: 'overloaded', message: 'was rejected: too many streams are open' },
  'circuit-open': { reason: 'circuit-open', message: 'was rejected: the circuit is open' },
}

/** Ends a request through undici: nothing waits for its response. `isLate` if it timed out, which is the origin's fault. */
export class AbortedError extends Error {
  readonly isLate: boolean

  constructor(isLate: boolean) {
    super('The request was aborted')
    this.isLate = isLate
  }
}

/** Whether other requests would fail too. A 404 or a too large response concerns this request only. */
export function isFaultOfOrigin({ reason, status = 0 }: CallFailure): boolean {
  return reason === 'connection' || reason === 'timeout' || (reason === 'status' && status >= 500)
}

/** The failure for an error of undici. */
export function failureOf(
  error: Error,
  { isSent, isReused, status }: { readonly isSent: boolean; readonly isReused: boolean; readonly status: number },
): CallFailure {
  const isUnsent = !isSent
  switch ((error as { code?: string }).code) {
    case 'UND_ERR_INVALID_ARG':
    case 'UND_ERR_NOT_SUPPORTED':
    case 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH':
    case 'UND_ERR_ABORTED':
      return { ...UNSENDABLE, cause: error }
    case 'UND_ERR_CONNECT_TIMEOUT':
      return { reason: 'timeout', message: 'did not connect in time', isUnsent, cause: error }
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
      return { ...LATE, cause: error }
    // The gateway's own limit: the error says no more.
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
      return TOO_LARGE
    case 'UND_ERR_HEADERS_OVERFLOW':
      return { ...TOO_LARGE, cause: error }
    default: {
      const isStaleSocket = status === 0 && isSent && isReused
      return { reason: 'connection', message: 'did not respond', isUnsent, isStaleSocket, cause: error }
    }
  }
}

/** The client's error for a failure. */
export function errorFor(reason: FailureReason, text: string, cause: unknown): Error {
  const error = errorOf(reason, text)
  return cause === undefined ? error : Object.assign(error, { cause })
}

function errorOf(reason: FailureReason, text: string): Error {
  switch (reason) {
    case 'timeout':
      return new UpstreamTimeoutError(text)
    case 'overloaded':
      return new OverloadedError(text)
    case 'circuit-open':
      return new CircuitOpenError(text)
    default:
      return new UpstreamFailedError(text)
  }
}
