// Responds to a request of the fast path: creates the context, calls the procedures, and builds status, headers and body
// as `resolveResponse` of tRPC does, by tRPC's own functions where they are public.

import { getTRPCErrorFromUnknown, TRPCError } from '@trpc/server'
import type { TrpcRequest } from '../request/trpc-request.ts'
import { chain, isThenable } from '../runtime/sync-chain.ts'
import { isAsyncIterable, isObject, isStreamed } from '../runtime/type-guards.ts'
import { respondWithLines } from './respond-batch-stream.ts'
import {
  callProcedure,
  type CallResponse,
  callResponse,
  type CallResult,
  createContext,
  errorShape,
  reportError,
  type RespondOptions,
} from './call-procedure.ts'
import { envelopeOf } from './envelope.ts'
import { checkedStatus, type Head, responseHead, withoutChunkedEncoding } from './head.ts'
import { type PlainResponse, plainResponse } from './ready-response.ts'
import { respondWithEvents } from './respond-subscription.ts'

/** Builds the response, synchronously if nothing is awaited. Fastify responds to errors that it throws. */
export function respond(request: TrpcRequest, options: RespondOptions): PlainResponse | Promise<PlainResponse> {
  const failed = (cause: unknown): PlainResponse => respondToFailure(request, cause, options)
  try {
    const response = chain(createContext(request, options), (contextError) => {
      if (request.isStream) return respondWithLines(request, contextError, options)
      const results = request.calls.map((_, index) => callProcedure(request, index, contextError, options))
      if (!request.isBatch)
        return chain(results[0]!, (result) =>
          request.type === 'subscription'
            ? respondWithEvents(request, result, options)
            : respondToCall(request, result, options),
        )
      const all = results.some(isThenable) ? Promise.all(results as Promise<CallResult>[]) : (results as CallResult[])
      return chain(all, (settled) => respondToBatch(request, settled, options))
    })
    return isThenable(response) ? response.catch(failed) : response
  } catch (cause) {
    return failed(cause)
  }
}

function respondToCall(request: TrpcRequest, result: CallResult, options: RespondOptions): PlainResponse {
  if ('data' in result && isDataStream(result.data)) throw streamUnsupported()
  const response = callResponse(request, 0, result, options)
  const errors = 'error' in result ? [result.error] : []
  const head = responseHead(request, [response], errors, errors, options)
  return complete(head, jsonOf(request, 0, response, options))
}

function respondToBatch(request: TrpcRequest, settled: readonly CallResult[], options: RespondOptions): PlainResponse {
  const results = settled.map((result) =>
    'data' in result && isDataStream(result.data) ? { error: streamUnsupported() } : result,
  )
  const responses = results.map((result, index) => callResponse(request, index, result, options))
  const errors = results.map((result) => ('error' in result ? result.error : undefined))
  const defined = errors.filter((error) => error !== undefined)
  const head = responseHead(request, responses, errors, defined, options)
  if (!request.calls.some(({ target }) => target.serialize)) {
    return complete(head, JSON.stringify(responses.map((response) => envelopeOf(options.config, response))))
  }
  return complete(head, `[${responses.map((response, index) => jsonOf(request, index, response, options)).join(',')}]`)
}

/** Responds to an error of no single call: of `responseMeta`, a serializer or an error formatter. */
function respondToFailure(request: TrpcRequest, cause: unknown, options: RespondOptions): PlainResponse {
  const error = getTRPCErrorFromUnknown(cause)
  reportError(request, options, error, { path: undefined, input: undefined, type: request.type })
  const response = { error: errorShape(request, options, error, undefined, undefined) }
  const body = JSON.stringify(envelopeOf(options.config, response))
  return complete(withoutChunkedEncoding(responseHead(request, response, [error], [error], options)), body)
}

/** As in tRPC, an invalid body is reported before an invalid status. */
function complete({ status, headers }: Head, body: string): PlainResponse {
  return plainResponse(checkedStatus(status), headers, body)
}

/** One response as JSON, by the serializer of its procedure if it has one. */
function jsonOf(request: TrpcRequest, index: number, response: CallResponse, options: RespondOptions): string {
  const { serialize } = request.calls[index]!.target
  if (!serialize || 'error' in response || response.result.data === undefined) {
    return JSON.stringify(envelopeOf(options.config, response))
  }
  return `{"result":{"data":${serialize(response.result.data)}}}`
}

export function streamUnsupported(): TRPCError {
  return new TRPCError({
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: 'Cannot use stream-like response in non-streaming request - use httpBatchStreamLink',
  })
}

/** Data that only a streamed response can carry: async iterables, and objects that hold one or a promise. */
export function isDataStream(data: unknown): boolean {
  return isObject(data) && (isAsyncIterable(data) || Object.values(data).some(isStreamed))
}
