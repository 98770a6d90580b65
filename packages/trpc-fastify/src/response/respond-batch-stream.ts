// Responds to `httpBatchStreamLink`.

import { getTRPCErrorFromUnknown, type TRPCError } from '@trpc/server'
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable'
import { type RespondOptions, callProcedure, type CallResult, callErrorShape, reportError } from './call-procedure.ts'
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
import { type PlainResponse, plainResponse } from './ready-response.ts'

/** Responds with one line per result, or with all lines at once if every call ends in this event-loop tick. */
export function respondWithLines(
  request: TrpcRequest,
  contextError: { error: TRPCError } | undefined,
  options: RespondOptions,
): PlainResponse | Promise<PlainResponse> {
  // Headers are sent before any result. As in tRPC, `responseMeta` runs before `onError`, except for errors of the context.
  const pending: [index: number, report: () => void][] = []
  let reportsImmediately = !!contextError
  const results = request.calls.map((_, index) =>
    callProcedure(request, index, contextError, options, (report) => {
      if (reportsImmediately) report()
      else pending.push([index, report])
    }),
  )
  let head: Head
  try {
    head = streamHead(request, options, options.streamHeaders)
  } catch (cause) {
    // As in tRPC, errors of calls are reported after this one.
    const reported = Promise.resolve().then(() => pending.forEach(([, report]) => report()))
    for (const promise of [reported, ...results]) if (isThenable(promise)) promise.catch(() => {})
    throw cause
  } finally {
    reportsImmediately = true
  }
  for (const [index, report] of pending) {
    try {
      report()
    } catch (onErrorThrew) {
      results[index] = Promise.reject(onErrorThrew)
    }
  }

  // An error of `onError`, an error formatter or a getter of a result fails one call, not the others.
  const outcomes = results.map((result, index): Outcome | Promise<Outcome> => {
    try {
      return chain(result, (settled) => outcomeOf(request, index, settled, options))
    } catch (cause) {
      return Promise.reject(cause)
    }
  })
  const lines = linesOptions(request, options)
  if (!outcomes.some(isThenable)) return inLines(head, outcomes, lines)
  return settledInThisTick(outcomes).then((settled) => inLines(head, settled, lines))
}

type Outcomes = readonly (Outcome | Promise<Outcome>)[]

function inLines(head: Head, outcomes: Outcomes, lines: JsonLinesOptions): PlainResponse {
  const body = completeLines(outcomes, lines)
  const { status, headers } = body === undefined ? head : withoutChunkedEncoding(head)
  return plainResponse(status, headers, body ?? new JsonLines(outcomes, lines))
}

/** Returns the outcomes at the end of this event-loop tick. A slow call must not retain the outcomes of the others. */
function settledInThisTick(outcomes: Outcomes): Promise<Outcomes> {
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
    // The line of this call reports it.
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
