// What happens around the calls of procedures beside tRPC's own: limits, time, size, log and metrics. It is
// the same for each way that a call comes by: the fast path, tRPC's own handler, and WebSockets.

import { getTRPCErrorFromUnknown, TRPCError, type TRPCProcedureType } from '@trpc/server'
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable'
import type { FastifyReply, FastifyRequest, LogLevel } from 'fastify'
import pLimit, { type LimitFunction } from 'p-limit'
import type { RouterConfig } from '../trpc-internals.ts'
import type { ProcedureRule, ProcedureRules } from '../rules.ts'
import type { Serializer } from '../serializer.ts'
import { isAsyncIterable } from '../../runtime/value-kinds.ts'

/** A call that has ended. */
export interface EndedCall {
  readonly path: string
  readonly type: TRPCProcedureType
  /** Place in its batch, from 0. */
  readonly batchIndex: number
  /** Milliseconds; of a subscription until its last event, of other calls until their result. */
  readonly duration: number
  /** Why it failed; nothing when it did not. */
  readonly error: TRPCError | undefined
  readonly req: FastifyRequest
}

/** What is said of calls for all procedures. */
export interface CallOptions {
  readonly batchConcurrency?: number | undefined
  readonly maxBatchResponseSize?: number | undefined
  readonly onCallEnd?: ((call: EndedCall) => void) | undefined
  readonly callLogLevel?: LogLevel | undefined
}

/** A call, whatever way it came. */
interface CallAround {
  readonly path: string
  readonly type: TRPCProcedureType
  readonly batchIndex: number
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal
}

/** What the calls of one request have in common; those of a WebSocket have its connection. */
export class CallScope {
  readonly req: FastifyRequest
  /** None on a WebSocket. */
  readonly reply: FastifyReply | undefined
  readonly isBatch: boolean
  /** Results are written by the serializers of their procedures; otherwise they are to look like it. */
  readonly hasSerializers: boolean
  /** Told when a subscription begins, gives what is to be told when it ends. */
  readonly onSubscription: (() => () => void) | undefined
  /** Done when the calls before have asked their rate limiter: asked at once, that of `@fastify/rate-limit` refuses all. */
  admission: Promise<unknown> = Promise.resolve()
  /** Bytes of the results so far. */
  size = 0
  limit: LimitFunction | undefined

  constructor(
    req: FastifyRequest,
    reply: FastifyReply | undefined,
    {
      isBatch = false,
      hasSerializers = false,
      onSubscription,
    }: { isBatch?: boolean; hasSerializers?: boolean; onSubscription?: () => () => void } = {},
  ) {
    this.req = req
    this.reply = reply
    this.isBatch = isBatch
    this.hasSerializers = hasSerializers
    this.onSubscription = onSubscription
  }
}

/** Calls a procedure, with another signal where one is given. */
type Invoke = (signal?: AbortSignal) => unknown

/** Calls a procedure with all that is to happen around it. */
export type Around = (scope: CallScope, call: CallAround, invoke: Invoke) => Promise<unknown>

/** Whether there is anything to do around calls. */
export function hasAround(
  { batchConcurrency, maxBatchResponseSize, onCallEnd, callLogLevel }: CallOptions,
  rules: ProcedureRules,
): boolean {
  const wanted = [batchConcurrency, maxBatchResponseSize, onCallEnd, callLogLevel]
  const ruled = ['rateLimit', 'timeout', 'serializer'] as const
  return wanted.some((option) => option !== undefined) || ruled.some((option) => rules.some(option))
}

/** Makes what happens around calls. */
export function aroundCalls(
  options: CallOptions,
  rules: ProcedureRules,
  { transformer }: RouterConfig,
  serializerAt: (path: string) => Serializer | undefined,
): Around {
  const { batchConcurrency, maxBatchResponseSize } = options
  const ruleByPath = new Map<string, ProcedureRule>()
  const ruleOf = (path: string): ProcedureRule => {
    const rule = ruleByPath.get(path) ?? rules.of(path)
    ruleByPath.set(path, rule)
    return rule
  }

  const called = async (scope: CallScope, call: CallAround, invoke: Invoke): Promise<unknown> => {
    const { rateLimit, timeout } = ruleOf(call.path)
    if (rateLimit) await refuseBeyond(rateLimit, scope)
    if (call.type === 'subscription') return invoke()
    const data = await (timeout === undefined ? invoke() : within(timeout, call.signal, invoke))
    if (maxBatchResponseSize !== undefined && scope.isBatch) {
      const size = sizeOf(transformer.output.serialize(data))
      if (scope.size + size > maxBatchResponseSize) {
        throw new TRPCError({
          code: 'PAYLOAD_TOO_LARGE',
          message: `The results of the batch have more than ${maxBatchResponseSize} bytes`,
        })
      }
      scope.size += size
    }
    const serialize = scope.hasSerializers ? undefined : serializerAt(call.path)
    return serialize && data !== undefined ? (JSON.parse(serialize(data)) as unknown) : data
  }

  return async (scope, call, invoke) => {
    if (batchConcurrency !== undefined && scope.isBatch) scope.limit ??= pLimit(batchConcurrency)
    const began = performance.now()
    const ended = (error?: TRPCError): void => tell(options, scope.req, call, performance.now() - began, error)
    try {
      const run = (): Promise<unknown> => called(scope, call, invoke)
      const data = await (scope.limit ? scope.limit(run) : run())
      if (call.type === 'subscription') return followed(data, call.signal, scope, ended)
      ended()
      return data
    } catch (cause) {
      ended(getTRPCErrorFromUnknown(cause))
      throw cause
    }
  }
}

async function refuseBeyond(rateLimit: NonNullable<ProcedureRule['rateLimit']>, scope: CallScope): Promise<void> {
  const { req, reply } = scope
  const asked = scope.admission.then(() => rateLimit(req))
  // oxlint-disable-next-line no-empty-function -- whoever asked gets the error
  scope.admission = asked.catch(() => {})
  const { isAllowed, isExceeded, isBanned, ttlInSeconds } = await asked
  if (isAllowed || !isExceeded) return
  if (reply && ttlInSeconds !== undefined && !reply.raw.headersSent) reply.header('retry-after', ttlInSeconds)
  throw isBanned
    ? new TRPCError({ code: 'FORBIDDEN', message: 'Banned for calling too often' })
    : new TRPCError({ code: 'TOO_MANY_REQUESTS', message: `Rate limit exceeded, retry in ${ttlInSeconds} seconds` })
}

async function within(timeout: number, outer: AbortSignal, invoke: Invoke): Promise<unknown> {
  const expiry = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new TRPCError({ code: 'TIMEOUT', message: `No result within ${timeout} ms` })
      expiry.abort(error)
      reject(error)
    }, timeout)
  })
  try {
    return await Promise.race([invoke(AbortSignal.any([outer, expiry.signal])), expired])
  } finally {
    clearTimeout(timer)
  }
}

/** Bytes of a result as JSON. What cannot be written at all fails later, where the answer is written. */
function sizeOf(data: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(data) ?? '')
  } catch {
    return 0
  }
}

function tell(
  { onCallEnd, callLogLevel }: CallOptions,
  req: FastifyRequest,
  { path, type, batchIndex }: CallAround,
  duration: number,
  error: TRPCError | undefined,
): void {
  if (callLogLevel && callLogLevel !== 'silent') {
    req.log[callLogLevel]({ path, type, batchIndex, duration, outcome: error?.code ?? 'OK' }, 'tRPC call ended')
  }
  try {
    onCallEnd?.({ path, type, batchIndex, duration, error, req })
  } catch (err) {
    req.log.error({ err, path }, '`onCallEnd` threw')
  }
}

/** The events of a subscription, with an eye on its end. */
function followed(data: unknown, signal: AbortSignal, scope: CallScope, ended: (error?: TRPCError) => void): unknown {
  const events = isObservable(data) ? observableToAsyncIterable(data, signal) : data
  if (!isAsyncIterable(events)) {
    ended()
    return events
  }
  return {
    [Symbol.asyncIterator](): AsyncIterator<unknown> {
      const iterator = events[Symbol.asyncIterator]()
      const onEnd = scope.onSubscription?.()
      let isOver = false
      const end = (error?: TRPCError): void => {
        if (isOver) return
        isOver = true
        onEnd?.()
        ended(error)
      }
      const step = async (
        next: () => Promise<IteratorResult<unknown>> | undefined,
      ): Promise<IteratorResult<unknown>> => {
        try {
          const result = (await next()) ?? { done: true, value: undefined }
          if (result.done) end()
          return result
        } catch (cause) {
          end(getTRPCErrorFromUnknown(cause))
          throw cause
        }
      }
      return {
        next: () => step(() => iterator.next()),
        return: (value: unknown) => step(() => iterator.return?.(value)),
      }
    },
  }
}
