// Answers a request of the fast path: creates the context, calls what is to be called, and puts
// together status, headers and body as tRPC's `resolveResponse` does, by tRPC's own functions where
// they are public.

import { getTRPCErrorFromUnknown, TRPCError } from '@trpc/server'
import {
  type AnswerOptions,
  callOne,
  type CallResponse,
  type CallResult,
  createContext,
  responseOf,
  shapeOf,
  tellError,
} from './call.ts'
import { chain, isThenable } from '../runtime/sync-chain.ts'
import { envelopeOf } from './envelope.ts'
import { type Head, headOf, inOnePiece, proven } from './head.ts'
import type { FastTrpcRequest } from '../request/trpc-request.ts'
import { type Answer, answerOf } from './send.ts'
import { streamAnswer } from './batch-stream.ts'
import { subscriptionAnswer } from './subscription.ts'
import { isAsyncIterable, isObject, isStreamed } from '../runtime/value-kinds.ts'

/** Makes the answer, at once where nothing has to be waited for. What it throws or rejects with is Fastify's to answer. */
export function answer(request: FastTrpcRequest, options: AnswerOptions): Answer | Promise<Answer> {
  const failed = (cause: unknown): Answer => failureAnswer(request, cause, options)
  try {
    const answered = chain(createContext(request, options), (contextError) => {
      if (request.isStream) return streamAnswer(request, contextError, options)
      const results = request.calls.map((_, index) => callOne(request, index, contextError, options))
      if (!request.isBatch)
        return chain(results[0]!, (result) =>
          request.type === 'subscription'
            ? subscriptionAnswer(request, result, options)
            : singleAnswer(request, result, options),
        )
      const all = results.some(isThenable) ? Promise.all(results as Promise<CallResult>[]) : (results as CallResult[])
      return chain(all, (settled) => batchAnswer(request, settled, options))
    })
    return isThenable(answered) ? answered.catch(failed) : answered
  } catch (cause) {
    return failed(cause)
  }
}

function singleAnswer(request: FastTrpcRequest, result: CallResult, options: AnswerOptions): Answer {
  if ('data' in result && isDataStream(result.data)) throw streamRefused()
  const response = responseOf(request, 0, result, options)
  const errors = 'error' in result ? [result.error] : []
  const head = headOf(request, [response], errors, errors, options)
  return complete(head, jsonOf(request, 0, response, options))
}

function batchAnswer(request: FastTrpcRequest, settled: readonly CallResult[], options: AnswerOptions): Answer {
  const results = settled.map((result) =>
    'data' in result && isDataStream(result.data) ? { error: streamRefused() } : result,
  )
  const responses = results.map((result, index) => responseOf(request, index, result, options))
  const errors = results.map((result) => ('error' in result ? result.error : undefined))
  const defined = errors.filter((error) => error !== undefined)
  const head = headOf(request, responses, errors, defined, options)
  if (!request.calls.some(({ target }) => target.serialize)) {
    return complete(head, JSON.stringify(responses.map((response) => envelopeOf(options.config, response))))
  }
  return complete(head, `[${responses.map((response, index) => jsonOf(request, index, response, options)).join(',')}]`)
}

/** For what no single call is to blame for: `responseMeta`, a serializer, an error formatter. */
function failureAnswer(request: FastTrpcRequest, cause: unknown, options: AnswerOptions): Answer {
  const error = getTRPCErrorFromUnknown(cause)
  tellError(request, options, error, { path: undefined, input: undefined, type: request.type })
  const response = { error: shapeOf(request, options, error, undefined, undefined) }
  const body = JSON.stringify(envelopeOf(options.config, response))
  return complete(inOnePiece(headOf(request, response, [error], [error], options)), body)
}

/** A status that cannot be is found only now, as in tRPC: a body that cannot be comes first. */
function complete({ status, headers }: Head, body: string): Answer {
  return answerOf(proven(status), headers, body)
}

/** One response as JSON, by the serializer of its procedure where it has one. */
function jsonOf(request: FastTrpcRequest, index: number, response: CallResponse, options: AnswerOptions): string {
  const { serialize } = request.calls[index]!.target
  if (!serialize || 'error' in response || response.result.data === undefined) {
    return JSON.stringify(envelopeOf(options.config, response))
  }
  return `{"result":{"data":${serialize(response.result.data)}}}`
}

function streamRefused(): TRPCError {
  return new TRPCError({
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: 'Cannot use stream-like response in non-streaming request - use httpBatchStreamLink',
  })
}

/** Data that only a streamed answer can carry: async iterables, and objects that hold one or a promise. */
function isDataStream(data: unknown): boolean {
  return isObject(data) && (isAsyncIterable(data) || Object.values(data).some(isStreamed))
}
