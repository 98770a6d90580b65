// State that the calls of one request share.

import type { TRPCProcedureType } from '@trpc/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LimitFunction } from 'p-limit'

/** A call of the fast path, of tRPC's own handler or of a WebSocket. */
export interface InterceptedCall {
  readonly path: string
  readonly type: TRPCProcedureType
  readonly batchIndex: number
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal
}

/** Calls a procedure, with another signal if one is given. */
export type Invoke = (signal?: AbortSignal) => unknown

export interface CallScopeOptions {
  readonly isBatch?: boolean
  /** Whether the serializers of procedures write the results. Otherwise results are converted to the same data. */
  readonly hasSerializers?: boolean
  /** Called when a subscription begins. Returns the function to call at its end. */
  readonly onSubscription?: () => () => void
}

/** State of one request. On a WebSocket, all calls of a connection share one. */
export class CallScope {
  readonly req: FastifyRequest
  /** Undefined on a WebSocket. */
  readonly reply: FastifyReply | undefined
  readonly isBatch: boolean
  readonly hasSerializers: boolean
  readonly onSubscription: (() => () => void) | undefined
  /** Settles when earlier calls are admitted: concurrent checks by `@fastify/rate-limit` would reject all of them. */
  admission: Promise<unknown> = Promise.resolve()
  /** Bytes of the results so far. */
  size = 0
  limit: LimitFunction | undefined

  constructor(
    req: FastifyRequest,
    reply: FastifyReply | undefined,
    { isBatch = false, hasSerializers = false, onSubscription }: CallScopeOptions = {},
  ) {
    this.req = req
    this.reply = reply
    this.isBatch = isBatch
    this.hasSerializers = hasSerializers
    this.onSubscription = onSubscription
  }
}
