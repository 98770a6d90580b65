// Answers a request of the fast path: creates the context, calls what is to be called, and puts
// together status, headers and body as tRPC's `resolveResponse` does, by tRPC's own functions where
// they are public.

import type { Readable } from 'node:stream'
import {
  type AnyTRPCRouter,
  getTRPCErrorFromUnknown,
  getErrorShape,
  transformTRPCResponse,
  TRPCError,
  type TRPCProcedureType,
} from '@trpc/server'
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable'
import { getHTTPStatusCode, type ResponseMeta } from '@trpc/server/http'
import type { FastifyReply } from 'fastify'
import { chain, isThenable } from './chain.ts'
import { EventStream } from './event-stream.ts'
import {
  completeLines,
  JsonLines,
  type JsonLinesOptions,
  type Outcome,
  outcomeOfData,
  outcomeOfError,
} from './json-lines.ts'
import type { AnswerStyle } from './answer-style.ts'
import type { RouterConfig } from './internals.ts'
import { latest } from './latest.ts'
import type { OpenStreams } from './open-streams.ts'
import type { TrpcHandlerOptions } from './options.ts'
import type { FastTrpcRequest } from './request.ts'
import { isAsyncIterable, isObject, isStreamed } from './value-kinds.ts'

/** What does not change between requests. */
export interface AnswerOptions extends AnswerStyle {
  readonly trpcOptions: TrpcHandlerOptions<AnyTRPCRouter>
  readonly config: RouterConfig
  /** Where subscriptions are to be found when the app closes. */
  readonly openStreams: OpenStreams | undefined
}

type CallResult = { readonly data: unknown } | { readonly error: TRPCError }
type CallResponse = { result: { data: unknown } } | { error: object }
type TrpcResponses = Parameters<typeof getHTTPStatusCode>[0]

/** An answer that is ready to be sent. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>> | Headers
  readonly body: string | Readable
}

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

/** Puts the context into the request; gives what `createContext` threw, which then is the outcome of every call. */
function createContext(
  request: FastTrpcRequest,
  { trpcOptions }: AnswerOptions,
): { error: TRPCError } | undefined | Promise<{ error: TRPCError } | undefined> {
  if (!trpcOptions.createContext) return undefined
  const failed = (cause: unknown): { error: TRPCError } => ({ error: getTRPCErrorFromUnknown(cause) })
  const created = (ctx: unknown): undefined => {
    request.ctx = ctx
  }
  try {
    const { req, reply, info } = request
    const { path } = req.params as { path: string }
    const ctx: unknown = trpcOptions.createContext({ ...trpcOptions, req, res: reply, path, info } as never)
    return isThenable(ctx) ? Promise.resolve(ctx).then(created, failed) : created(ctx)
  } catch (cause) {
    return failed(cause)
  }
}

function callOne(
  request: FastTrpcRequest,
  index: number,
  contextError: { error: TRPCError } | undefined,
  options: AnswerOptions,
  when: (tell: () => void) => void = (tell) => tell(),
): CallResult | Promise<CallResult> {
  const call = request.calls[index]!
  const failed = (cause: unknown): CallResult => {
    const error = getTRPCErrorFromUnknown(cause)
    const input = call.readResult()
    when(() => {
      try {
        tellError(request, options, error, { path: call.path, input, type: request.type })
      } catch (onErrorThrew) {
        if (!request.isBatch) dropContentType(request, options)
        throw onErrorThrew
      }
    })
    return { error }
  }
  try {
    if (contextError) throw contextError.error
    const data = call.target.call(call, request.ctx)
    return isThenable(data) ? Promise.resolve(data).then((value) => ({ data: value }), failed) : { data }
  } catch (cause) {
    try {
      return failed(cause)
    } catch (onErrorThrew) {
      // The other calls of a batch are made all the same.
      return Promise.reject(onErrorThrew)
    }
  }
}

/** tRPC sets the content type of a single answer only when its call is over, which includes `onError`. */
function dropContentType(request: FastTrpcRequest, { headers }: AnswerOptions): void {
  request.headers = new Headers(headers)
  request.headers.delete('content-type')
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
    return complete(head, JSON.stringify(responses.map((response) => transformed(options, response))))
  }
  return complete(head, `[${responses.map((response, index) => jsonOf(request, index, response, options)).join(',')}]`)
}

/**
 * The answer to `httpBatchStreamLink`. All at once where every call is done within this turn of the event
 * loop, or as the calls come to an end.
 */
function streamAnswer(
  request: FastTrpcRequest,
  contextError: { error: TRPCError } | undefined,
  options: AnswerOptions,
): Answer | Promise<Answer> {
  // Headers are due before any result, and `responseMeta` is asked for them before errors are told, except
  // for the one of the context.
  const untold: [index: number, tell: () => void][] = []
  let tellAtOnce = !!contextError
  const results = request.calls.map((_, index) =>
    callOne(request, index, contextError, options, (tell) => {
      if (tellAtOnce) tell()
      else untold.push([index, tell])
    }),
  )
  let head: Head
  try {
    head = eagerHeadOf(request, options, options.streamHeaders)
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
  const inLines = (): Answer => {
    const body = completeLines(outcomes, lines)
    return body === undefined ? { ...head, body: new JsonLines(outcomes, lines) } : { ...inOnePiece(head), body }
  }
  if (!outcomes.some(isThenable)) return inLines()
  for (const [index, outcome] of outcomes.entries()) {
    if (isThenable(outcome)) {
      outcome.then(
        (settled) => (outcomes[index] = settled),
        () => {}, // whoever writes the line finds it
      )
    }
  }
  return new Promise((resolve) => setImmediate(resolve)).then(inLines)
}

/** The answer to `httpSubscriptionLink`. A call that failed is an event too. */
function subscriptionAnswer(request: FastTrpcRequest, result: CallResult, options: AnswerOptions): Answer {
  const { transformer, sse = {} } = options.config
  const call = request.calls[0]!
  const head = eagerHeadOf(request, options, options.eventHeaders)
  const stream = new EventStream(iterableOf(request, result), {
    serialize: (value) => transformer.output.serialize(value) as unknown,
    shapeOf(cause) {
      const error = getTRPCErrorFromUnknown(cause)
      const input = call.readResult()
      tellError(request, options, error, { path: call.path, input, type: request.type })
      return shapeOf(request, options, error, call.path, input)
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
  return { ...head, body: stream }
}

function iterableOf(request: FastTrpcRequest, result: CallResult): AsyncIterable<unknown> {
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

// oxlint-disable-next-line require-yield -- it is an iterable whose first value is an error
async function* failing(error: TRPCError): AsyncGenerator<never> {
  throw error
}

function outcomeOf(request: FastTrpcRequest, index: number, result: CallResult, options: AnswerOptions): Outcome {
  const call = request.calls[index]!
  if ('error' in result) return outcomeOfError(shapeOf(request, options, result.error, call.path, call.readResult()))
  const { data } = result
  return outcomeOfData(isObservable(data) ? observableToAsyncIterable(data, request.signal) : data)
}

function linesOptions(request: FastTrpcRequest, options: AnswerOptions): JsonLinesOptions {
  const { transformer, jsonl } = options.config
  return {
    serialize: (chunk) => transformer.output.serialize(chunk) as unknown,
    shapeOf(cause, index) {
      const call = request.calls[index]!
      return shapeOf(request, options, getTRPCErrorFromUnknown(cause), call.path, call.readResult())
    },
    onError(cause) {
      const error = getTRPCErrorFromUnknown(cause)
      tellError(request, options, error, { path: undefined, input: undefined, type: request.type })
    },
    pingMs: jsonl?.pingMs,
  }
}

/** For what no single call is to blame for: `responseMeta`, a serializer, an error formatter. */
function failureAnswer(request: FastTrpcRequest, cause: unknown, options: AnswerOptions): Answer {
  const error = getTRPCErrorFromUnknown(cause)
  tellError(request, options, error, { path: undefined, input: undefined, type: request.type })
  const response = { error: shapeOf(request, options, error, undefined, undefined) }
  const body = JSON.stringify(transformed(options, response))
  return complete(inOnePiece(headOf(request, response, [error], [error], options)), body)
}

/** One response as JSON, by the serializer of its procedure where it has one. */
function jsonOf(request: FastTrpcRequest, index: number, response: CallResponse, options: AnswerOptions): string {
  const { serialize } = request.calls[index]!.target
  if (!serialize || 'error' in response || response.result.data === undefined) {
    return JSON.stringify(transformed(options, response))
  }
  return `{"result":{"data":${serialize(response.result.data)}}}`
}

/** A status that cannot be is found only now, as in tRPC: a body that cannot be comes first. */
function complete({ status, headers }: Head, body: string): Answer {
  return { status: proven(status), headers, body }
}

function responseOf(request: FastTrpcRequest, index: number, result: CallResult, options: AnswerOptions): CallResponse {
  if ('data' in result) return { result: { data: result.data } }
  const call = request.calls[index]!
  return { error: shapeOf(request, options, result.error, call.path, call.readResult()) }
}

function shapeOf(
  { ctx, type }: FastTrpcRequest,
  { config }: AnswerOptions,
  error: TRPCError,
  path: string | undefined,
  input: unknown,
): object {
  return getErrorShape({ config, ctx: ctx as object, error, input, path, type }) as object
}

/** What is sent of a response; tRPC's own function copies copies, which only a `responseMeta` could tell. */
function transformed({ config, trpcOptions }: AnswerOptions, response: CallResponse): object {
  if (trpcOptions.responseMeta) return transformTRPCResponse(config as never, response as never) as object
  const { output } = config.transformer
  return 'error' in response
    ? { error: output.serialize(response.error) as unknown }
    : { result: { data: output.serialize(response.result.data) as unknown } }
}

function tellError(
  { req, ctx }: FastTrpcRequest,
  { trpcOptions }: AnswerOptions,
  error: TRPCError,
  call: { path: string | undefined; input: unknown; type: TRPCProcedureType },
): void {
  const { path, input, type } = call
  trpcOptions.onError?.({ error, path, input, ctx: ctx as object, type, req })
}

type Head = Omit<Answer, 'body'>

/** Status and headers, with what `responseMeta` makes of them. */
function headOf(
  request: FastTrpcRequest,
  responses: CallResponse | CallResponse[],
  errors: readonly (TRPCError | undefined)[],
  defined: TRPCError[],
  options: AnswerOptions,
): Head {
  const status = defined.length === 0 ? 200 : getHTTPStatusCode(responses as TrpcResponses, errors)
  const data = Array.isArray(responses) ? responses : [responses]
  return withMeta(request, options, { status, headers: options.headers }, data, defined)
}

/** The same before any result is known. */
function eagerHeadOf(
  request: FastTrpcRequest,
  options: AnswerOptions,
  headers: Readonly<Record<string, string>>,
): Head {
  const head = withMeta(request, options, { status: 200, headers }, undefined, [])
  return { ...head, status: proven(head.status) }
}

function withMeta(
  request: FastTrpcRequest,
  { trpcOptions: { responseMeta } }: AnswerOptions,
  { status, headers }: { status: number; headers: Readonly<Record<string, string>> },
  data: CallResponse[] | undefined,
  errors: TRPCError[],
): Head {
  if (!responseMeta) return { status, headers: request.headers ?? headers }
  const { info, ctx, calls, type } = request
  const meta = responseMeta({
    ctx: ctx as object,
    info,
    paths: calls.map(({ path }) => path),
    data: (data ?? []) as never,
    errors,
    eagerGeneration: !data,
    type,
  }) as ResponseMeta | undefined
  if (meta?.headers) addHeaders((request.headers ??= new Headers(headers)), meta.headers)
  return { status: meta?.status || status, headers: request.headers ?? headers }
}

/** A body that is complete needs no chunks. */
function inOnePiece({ status, headers }: Head): Head {
  if (headers instanceof Headers) {
    headers.delete('transfer-encoding')
    return { status, headers }
  }
  const { 'transfer-encoding': _, ...others } = headers
  return { status, headers: others }
}

function addHeaders(headers: Headers, added: NonNullable<ResponseMeta['headers']>): void {
  if (added instanceof Headers) {
    for (const [name, value] of added) headers.append(name, value)
    return
  }
  for (const [name, value] of Object.entries(added)) {
    if (Array.isArray(value)) for (const one of value) headers.append(name, one)
    else if (typeof value === 'string') headers.set(name, value)
  }
}

/** A status that no `Response` with a body can have throws here what it would throw there. */
function proven(status: number): number {
  const isPlain = Number.isInteger(status) && status > 205 && status < 600 && status !== 304
  return isPlain || status === 200 || status === 201 ? status : new Response('', { status }).status
}

/** Fastify calls it as a method of the reply. Once is enough: what an error handler sends is none of its business. */
function asItIs(this: FastifyReply, body: unknown): string {
  this.serializer(null as never)
  return body as string
}

/** What Fastify knows as a content type; others it would replace by one of its own, but not in a `Response`. */
const PLAIN_TYPE = /^[\w.+-]+\/[\w.+-]+$/

/** Whether headers of `responseMeta` are no matter of how the body is sent. */
function arePlain(headers: Answer['headers']): boolean {
  if (!(headers instanceof Headers)) return true
  if (headers.has('transfer-encoding') || headers.has('content-length')) return false
  return PLAIN_TYPE.test(headers.get('content-type') ?? '')
}

/**
 * Sends an answer as Fastify sends the `Response` of tRPC's own adapter, but in one piece. A `Response` it
 * is where the reply was touched: the user may have sent it, which shows only when its `onSend` hooks are
 * done, and a `Response` does not change status and headers before.
 */
export function send(reply: FastifyReply, ready: Answer): void {
  latest.answer = ready
  const { status, headers, body } = ready
  // Fastify logs that this comes too late.
  if (reply.sent) {
    if (typeof body !== 'string') body.destroy()
    return void reply.send(body)
  }
  const isTouched = reply.statusCode !== 200 || reply.hasHeader('content-type')
  if (typeof body === 'string' && (isTouched || !arePlain(headers))) {
    return void reply.send(new Response(body, { status, headers }))
  }
  if (headers instanceof Headers) for (const [name, value] of headers) reply.header(name, value)
  else reply.headers(headers)
  // Without a serializer, Fastify would add a charset to the content type.
  if (typeof body === 'string') reply.serializer(asItIs)
  reply.code(status).send(body)
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
