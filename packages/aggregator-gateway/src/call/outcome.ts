// What comes of a call.

import { CircuitOpenError, OverloadedError, UpstreamFailedError, UpstreamTimeoutError } from '../errors.ts'
import type { JsonBody } from './json-body.ts'
import type { Origin, Refusal } from '../upstream/upstream.ts'

/** Why a call has no answer. */
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
  /** The upstream's status, where it has answered. */
  readonly status?: number
  /** The header with which it says when it will answer again. */
  readonly retryAfter?: string
  /** No byte of the request was sent. */
  readonly isUnseen?: boolean
  /** A kept-alive connection was closed as the request was sent: its server may not have seen it. */
  readonly isOutdated?: boolean
  readonly cause?: unknown
}

/** What came of a call. */
export type CallOutcome = { readonly body: JsonBody } | { readonly failure: CallFailure }

/** The request itself is the fault, such as a header with characters that HTTP has not: no origin is to blame. */
export const CANNOT_BE_SENT = { reason: 'request', message: 'cannot be sent as a request' } as const
export const LATE: CallFailure = { reason: 'timeout', message: 'did not answer in time' }

/** What an upstream's refusal means. */
export const NOT_MADE: Readonly<Record<Refusal, CallFailure>> = {
  overloaded: { reason: 'overloaded', message: 'was not made, as too many wait already' },
  'too-many-streams': { reason: 'overloaded', message: 'was not made, as too many streams are open' },
  'circuit-open': { reason: 'circuit-open', message: 'was not made, as too many have failed' },
}

/** A failure on its way through undici's handlers and streams. */
export class CallError extends Error {
  readonly failure: CallFailure
  /** Where it was sent. */
  readonly origin: Origin | undefined

  constructor(failure: CallFailure, origin?: Origin) {
    super(failure.message, { cause: failure.cause })
    this.failure = failure
    this.origin = origin
  }
}

/** Nobody waits for the answer any more; `isLate` when it had its time, which counts against the origin. */
export class GivenUpError extends Error {
  readonly isLate: boolean

  constructor(isLate: boolean) {
    super('Nobody waits for this answer any more')
    this.isLate = isLate
  }
}

/** The error that a client gets for it. */
export function errorFor(reason: FailureReason, text: string, cause: unknown): Error {
  const error = bareError(reason, text)
  return cause === undefined ? error : Object.assign(error, { cause })
}

function bareError(reason: FailureReason, text: string): Error {
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
