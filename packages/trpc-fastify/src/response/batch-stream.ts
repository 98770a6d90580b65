// The answer to `httpBatchStreamLink`.

import { getTRPCErrorFromUnknown, type TRPCError } from '@trpc/server'
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable'
import { type RespondOptions, callProcedure, type CallResult, callErrorShape, reportError } from './call.ts'
import { chain, isThenable } from '../runtime/sync-chain.ts'
import { streamHead, type Head, withoutChunkedEncoding } from './head.ts'
import {
  completeLines,
  JsonLines,
  type JsonLinesOptions,
  type Outcome,
  outcomeOfData,
  outcomeOfError,
} from './json-lines.ts'
import type { TrpcRequest } from '../request/trpc-request.ts'
import { type PlainResponse, plainResponse } from './plain-response.ts'

/**
 * The answer to `httpBatchStreamLink`. All at once where every call is done within this turn of the event
 * loop, or as the calls come to an end.
 */
export function respondWithLines(
  request: TrpcRequest,
  contextError: { error: TRPCError } | undefined,
  options: RespondOptions,
): PlainResponse | Promise<PlainResponse> {
  // Headers are due before any result, and `responseMeta` is asked for them before errors are told, except
  // for the one of the context.
  const untold: [index: number, tell: () => void][] = []
  let tellAtOnce = !!contextError
  const results = request.calls.map((_, index) =>
    callProcedure(request, index, contextError, options, (tell) => {
      if (tellAtOnce) tell()
      else untold.push([index, tell])
    }),
  )
  let head: Head
  try {
    head = streamHead(request, options, options.streamHeaders)
  } catch (cause) {
    // Of the calls tRPC tells after it has told of this.
    const told = Promise.resolve().then(() => untold.forEach(([, tell]) => tell()))
    for (const promise of [told, ...results]) if (isThenable(promise)) promise.catch(() => {})
    throw cause
  } finally {
    tellAtOnce = true
  }
  for (const [index, tell] of untold) {
    try {
      tell()
    } catch (onErrorThrew) {
      results[index] = Promise.reject(onErrorThrew)
    }
  }

  // What fails here (`onError`, an error formatter, a getter of a result) fails one call, not the others.
  const outcomes = results.map((result, index): Outcome | Promise<Outcome> => {
    try {
      return chain(result, (settled) => outcomeOf(request, index, settled, options))
    } catch (cause) {
      return Promise.reject(cause)
    }
  })
  const lines = linesOptions(request, options)
  if (!outcomes.some(isThenable)) return inLines(head, outcomes, lines)
  return settledInThisTurn(outcomes).then((settled) => inLines(head, settled, lines))
}

type Outcomes = readonly (Outcome | Promise<Outcome>)[]

function inLines(head: Head, outcomes: Outcomes, lines: JsonLinesOptions): PlainResponse {
  const body = completeLines(outcomes, lines)
  const { status, headers } = body === undefined ? head : withoutChunkedEncoding(head)
  return plainResponse(status, headers, body ?? new JsonLines(outcomes, lines))
}

/** The outcomes at the end of this turn of the event loop. A call that takes longer must not hold those of the others. */
function settledInThisTurn(outcomes: Outcomes): Promise<Outcomes> {
  const early: { settled: (Outcome | Promise<Outcome>)[] | undefined } = { settled: [...outcomes] }
  for (const [index, outcome] of outcomes.entries()) {
    if (isThenable(outcome)) void settle(early, index, outcome)
  }
  return new Promise((resolve) => {
    setImmediate(() => {
      resolve(early.settled!)
      early.settled = undefined
    })
  })
}

async function settle(
  early: { settled: unknown[] | undefined },
  index: number,
  outcome: Promise<Outcome>,
): Promise<void> {
  try {
    const settled = await outcome
    if (early.settled) early.settled[index] = settled
  } catch {
    // Whoever writes the line finds it.
  }
}

function outcomeOf(request: TrpcRequest, index: number, result: CallResult, options: RespondOptions): Outcome {
  if ('error' in result) return outcomeOfError(callErrorShape(request, index, result.error, options))
  const { data } = result
  return outcomeOfData(isObservable(data) ? observableToAsyncIterable(data, request.signal) : data)
}

function linesOptions(request: TrpcRequest, options: RespondOptions): JsonLinesOptions {
  const { transformer, jsonl } = options.config
  return {
    serialize: (chunk) => transformer.output.serialize(chunk) as unknown,
    shapeOf: (cause, index) => callErrorShape(request, index, getTRPCErrorFromUnknown(cause), options),
    onError(cause) {
      const error = getTRPCErrorFromUnknown(cause)
      reportError(request, options, error, { path: undefined, input: undefined, type: request.type })
    },
    pingMs: jsonl?.pingMs,
  }
}
