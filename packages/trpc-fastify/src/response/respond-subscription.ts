// Responds to `httpSubscriptionLink`.

import { getTRPCErrorFromUnknown, TRPCError } from '@trpc/server'
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable'
import { type RespondOptions, type CallResult, callErrorShape, reportError } from './call-procedure.ts'
import { EventStream } from './sse.ts'
import { streamHead } from './head.ts'
import type { TrpcRequest } from '../request/trpc-request.ts'
import { type PlainResponse, plainResponse } from './ready-response.ts'
import { isAsyncIterable } from '../runtime/type-guards.ts'

/** Responds with the events of a subscription. A failed call is an event, too. */
export function respondWithEvents(request: TrpcRequest, result: CallResult, options: RespondOptions): PlainResponse {
  const { transformer, sse = {} } = options.config
  const call = request.calls[0]!
  const head = streamHead(request, options, options.eventHeaders)
  const stream = new EventStream(iterableOf(request, result), {
    serialize: (value) => transformer.output.serialize(value) as unknown,
    shapeOf(cause) {
      const error = getTRPCErrorFromUnknown(cause)
      reportError(request, options, error, { path: call.path, input: call.readResult(), type: request.type })
      return callErrorShape(request, 0, error, options)
    },
    client: sse.client ?? {},
    pingMs: sse.ping?.enabled ? (sse.ping.intervalMs ?? 1000) : undefined,
    lastEventId: request.lastEventId,
  })
  const end = (): void => {
    request.end()
    stream.stop()
  }
  if (sse.maxDurationMs && 'data' in result) {
    const timer = setTimeout(end, sse.maxDurationMs)
    stream.once('close', () => clearTimeout(timer))
  }
  if (options.openStreams) stream.once('close', options.openStreams.add(end))
  return plainResponse(head.status, head.headers, stream)
}

function iterableOf(request: TrpcRequest, result: CallResult): AsyncIterable<unknown> {
  if ('error' in result) return failing(result.error)
  const { data } = result
  if (isObservable(data)) return observableToAsyncIterable(data, request.signal)
  if (isAsyncIterable(data)) return data
  return failing(
    new TRPCError({
      message: `Subscription ${request.calls[0]!.path} did not return an observable or a AsyncGenerator`,
      code: 'INTERNAL_SERVER_ERROR',
    }),
  )
}

// oxlint-disable-next-line require-yield -- the first step of this iterable throws
async function* failing(error: TRPCError): AsyncGenerator<never> {
  throw error
}
