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
  /** Whether a result may be a stream, which the response reads to its end. */
  readonly isStream?: boolean
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
  readonly isStream: boolean
  readonly hasSerializers: boolean
  readonly onSubscription: (() => () => void) | undefined
  /** Settles when earlier calls are admitted: concurrent checks by `@fastify/rate-limit` would reject all of them. */
  admission: Promise<unknown> = Promise.resolve()
  /** Bytes of the results so far. */
  size = 0
  limit: LimitFunction | undefined
  #atClose: (() => void)[] | undefined

  get isWebSocket(): boolean {
    return this.reply === undefined
  }

  constructor(
    req: FastifyRequest,
    reply: FastifyReply | undefined,
    { isBatch = false, isStream = false, hasSerializers = false, onSubscription }: CallScopeOptions = {},
  ) {
    this.req = req
    this.reply = reply
    this.isBatch = isBatch
    this.isStream = isStream
    this.hasSerializers = hasSerializers
    this.onSubscription = onSubscription
  }

  /** Calls a function when the response is closed, by one listener for all. */
  onClose(run: () => void): void {
    if (!this.#atClose) {
      const all: (() => void)[] = (this.#atClose = [])
      this.reply?.raw.once('close', () => {
        for (const one of all) one()
      })
    }
    this.#atClose.push(run)
  }
}
