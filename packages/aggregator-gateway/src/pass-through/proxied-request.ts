// Hands a request on to an upstream and its answer to the client, byte by byte as they come, for what is not JSON, is
// too large, or is nobody's business on the way.

import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { constants, type Http2ServerRequest } from 'node:http2'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { errorCodes, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Dispatcher } from 'undici'
import { TOO_LARGE } from '../call/attempt.ts'
import { ClientTimeoutError, InvalidOptionError } from '../errors.ts'
import { exchange, type Exchange, type Requester } from '../upstream/exchange.ts'
import {
  type HeaderPlan,
  type Headers,
  type HeadersOption,
  planHeaders,
  renderHeaders,
} from '../request/request-headers.ts'
import { withQuery } from '../request/forwarded-query.ts'
import { namedByConnection } from '../http/header-rules.ts'
import { HandlerInContext } from '../runtime/async-context-handler.ts'
import { isIdempotent, type Method, type PassThroughEndpointOptions } from '../options/options.ts'
import { CLIENT_LEFT, type GivenUp, handedOnEnd, type Observing } from '../observability/observers.ts'
import { CallError, type CallFailure, CANNOT_BE_SENT, errorFor, GivenUpError, LATE, NOT_MADE } from '../call/outcome.ts'
import { paramsOf } from '../endpoint/plan.ts'
import { Download, type Handing, Upload } from './bodies.ts'
import type { Values } from '../request/placeholders.ts'
import { parseTemplate, type Template } from '../request/path-template.ts'
import type { Origin, Upstream } from '../upstream/upstream.ts'

/** What a request is handed on as. */
export interface PassThroughOptions {
  /** The name of the upstream. */
  upstream: string
  /** The path, with places for values: `/files/{params.id}`, `{query.page}`, `{headers.x-tenant}`, `{user.sub}`. */
  path: string
  /** Whether values in the path may contain a slash, which is sent as `%2F`. @default false */
  allowEncodedSlash?: boolean
  /** The method. @default the endpoint's, and HEAD for HEAD */
  method?: Method
  /** Headers of the upstream's request: by name, with places such as `{user.sub}`, or a function of the request. @default none */
  headers?: HeadersOption
  /** Names of the client's headers that are handed on; no other is. @default none */
  forwardHeaders?: readonly string[]
  /** Names of the client's query parameters that are handed on; no other is. @default none */
  forwardQuery?: readonly string[]
  /** Whether the client's body is handed on, of any type, with `content-type`, `content-encoding` and `content-length`. @default false */
  forwardBody?: boolean
  /** Names of the upstream's headers that are handed on, beside those below. @default none */
  answerHeaders?: readonly string[]
  /** Maximum bytes of the response body; the upstream's `maxResponseSize` is for calls. @default unlimited */
  maxResponseSize?: number
  /** Milliseconds that the client may rest while it sends its body or takes the answer. @default 60000 */
  clientTimeout?: number
}

/** Headers that say what the answer is, how long it holds, and what browsers may do with it. */
const ANSWER_HEADERS: readonly string[] = [
  // Node recodes `content-disposition` if `content-length` was set before: it comes first.
  ...['content-disposition', 'content-type', 'content-length', 'content-encoding', 'content-language'],
  ...['accept-ranges', 'content-range', 'etag', 'last-modified', 'cache-control', 'expires', 'age', 'date', 'vary'],
  ...['content-security-policy', 'cross-origin-resource-policy', 'x-content-type-options', 'retry-after', 'allow'],
]

interface PlannedPassThrough {
  readonly upstream: Upstream
  readonly method: Method
  readonly path: Template
  readonly headers: HeaderPlan
  readonly forwardQuery: readonly string[]
  readonly forwardsBody: boolean
  readonly answerHeaders: readonly string[]
  /** Of the response body; -1 for any number. */
  readonly mostBytes: number
  readonly timeout: number
  readonly clientTimeout: number
  readonly observing: Observing | undefined
}

/**
 * Answers an endpoint by handing it on.
 *
 * @throws GATEWAY_INVALID_OPTION for a path that cannot be filled in
 */
export function addPassThrough(
  app: FastifyInstance,
  endpoint: PassThroughEndpointOptions,
  where: string,
  upstreams: ReadonlyMap<string, Upstream>,
  observing: Observing | undefined,
): void {
  const plan = { ...planPassThrough(endpoint, `${where}.passThrough`, upstreams), observing }
  const { method = 'GET', path, route = {} } = endpoint
  app.register((scope, _options, done) => {
    // Bodies are not read here, of whatever type they are.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload))
    scope.route({
      ...route,
      method: method === 'GET' ? ['GET', 'HEAD'] : method,
      url: path,
      handler: handlerOf(plan),
    })
    done()
  })
}

function planPassThrough(
  { method = 'GET', path: url, timeout = 2000, passThrough }: PassThroughEndpointOptions,
  where: string,
  upstreams: ReadonlyMap<string, Upstream>,
): Omit<PlannedPassThrough, 'observing'> {
  const { upstream, path, headers = {}, forwardHeaders = [], forwardQuery = [], forwardBody = false } = passThrough
  const { answerHeaders = [], clientTimeout = 60_000, maxResponseSize = -1, allowEncodedSlash = false } = passThrough
  const at = `${where}.path`
  const template = parseTemplate(path, at, { allowEncodedSlash })
  const headerPlan = planHeaders(headers, {
    // They say what the body is.
    forwarded: forwardBody ? [...forwardHeaders, 'content-type', 'content-encoding'] : forwardHeaders,
    where: `${where}.headers`,
  })
  const unknown = template.params.find((param) => !paramsOf(url).includes(param))
  if (unknown !== undefined) {
    throw new InvalidOptionError(`Expected \`${at}\` to take parameters of ${url}, got {params.${unknown}}`)
  }
  if (/\{(?:body|calls)[.}]/.test(path)) {
    throw new InvalidOptionError(`Expected \`${at}\` to take params, query, headers and user alone, got "${path}"`)
  }
  const { templates } = headerPlan
  if (templates.some(({ places }) => places.some(({ source }) => source === 'body'))) {
    throw new InvalidOptionError(
      `Expected \`${where}.headers\` to take params, query, headers and user alone, got {body}`,
    )
  }
  return {
    upstream: upstreams.get(upstream)!,
    method: passThrough.method ?? method,
    path: template,
    headers: headerPlan,
    forwardQuery,
    forwardsBody: forwardBody,
    answerHeaders: [...ANSWER_HEADERS, ...answerHeaders],
    mostBytes: maxResponseSize,
    timeout,
    clientTimeout,
  }
}

function handlerOf(plan: PlannedPassThrough): (request: FastifyRequest, reply: FastifyReply) => void {
  return (request, reply) => {
    new PassThrough(plan, request, reply).start()
  }
}

/** A request that is handed on. */
class PassThrough implements Values, Handing, Requester, Dispatcher.DispatchHandler {
  readonly #plan: PlannedPassThrough
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  #options: Dispatcher.DispatchOptions | undefined
  #attempts = 0
  /** It was sent once more, after a kept-alive connection was closed. */
  #isResent = false
  #origin: Origin | undefined
  #exchange: Exchange | undefined
  #status: number | undefined
  readonly #startedAt = performance.now()
  /** What observers have said when it started. */
  #observed: readonly unknown[] | undefined
  #upload: Upload | undefined
  #controller: Dispatcher.DispatchController | undefined
  #download: Download | undefined
  /** The client is to take what is there, before more is asked for or as it is the rest. */
  #isPaused = false
  #isAnswered = false
  #handedOn: readonly string[] = []
  #watch: NodeJS.Timeout | undefined
  #progressAt = performance.now()
  #isOver = false

  constructor(plan: PlannedPassThrough, request: FastifyRequest, reply: FastifyReply) {
    this.#plan = plan
    this.#request = request
    this.#reply = reply
  }

  get request(): FastifyRequest {
    return this.#request
  }
  callValue(): undefined {
    return undefined
  }

  start(): void {
    const { method, headers, observing, forwardQuery } = this.#plan
    let path: string
    let rendered: Headers
    try {
      path = withQuery(this.#plan.path.render(this), forwardQuery, this.#request.query)
      rendered = renderHeaders(headers, this, observing?.observers.callHeaders(observing.calls[0]!, this.#request))
      this.#upload = this.#startUpload()
    } catch (error) {
      return this.#refuse(error as Error)
    }
    const length = this.#upload && this.#request.headers['content-length']
    const all = {
      ...rendered,
      ...(length === undefined ? {} : { 'content-length': length }),
    }
    this.#observed = observing?.observers.started(observing.calls[0]!, this.#request, all)
    this.#options = {
      path,
      method: this.#request.method === 'HEAD' && method === 'GET' ? 'HEAD' : method,
      headers: all,
      body: this.#upload ?? null,
    }
    this.#reply.raw.once('close', AsyncResource.bind(leaveOf(this)))
    this.#watch = setTimeout(expire, this.#plan.timeout, this)
    this.#send()
  }

  #startUpload(): Upload | undefined {
    const { body, headers, routeOptions } = this.#request
    if (!this.#plan.forwardsBody || body === undefined) return undefined
    const most = routeOptions.bodyLimit
    if (Number(headers['content-length'] ?? 0) > most) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
    return new Upload(this, body as Readable, most)
  }

  #send(avoid?: Origin, isFresh = false): void {
    this.#attempts++
    this.#controller = undefined
    const { upstream, mostBytes } = this.#plan
    const handler = new HandlerInContext(this)
    const room = this.#upload ? 'stream' : 'call-then-stream'
    const how = { avoid, isFresh, mostBytes, room, requester: this } as const
    if (upstream.cache) upstream.cache.dispatch(this.#options!, handler, how)
    else this.#origin = exchange(upstream, this.#options!, handler, how)
  }

  exchangeBegan(one: Exchange): void {
    this.#exchange = one
  }

  progress(): void {
    this.#progressAt = performance.now()
  }

  resume(): void {
    if (this.#isPaused || this.#isAnswered) this.progress()
    this.#isPaused = false
    if (this.#controller) inContextOfModule(resume, this.#controller)
  }

  uploadFailed(error: Error): void {
    if (this.#isOver) return
    this.#tell(CLIENT_LEFT)
    this.#fail(error)
    this.#giveUp(false)
  }

  leave(): void {
    if (this.#isOver) return
    this.#tell(CLIENT_LEFT)
    this.#giveUp(false)
  }

  expire(): void {
    const { timeout, clientTimeout } = this.#plan
    const isClientsTurn = this.#download ? this.#isPaused || this.#isAnswered : (this.#upload?.isWaiting ?? false)
    const left = (isClientsTurn ? clientTimeout : timeout) - (performance.now() - this.#progressAt)
    if (left > 0) {
      // It may be the other's turn before.
      this.#watch = setTimeout(expire, Math.min(left, timeout), this)
      return
    }
    this.#tell(isClientsTurn ? CLIENT_LEFT : LATE)
    this.#fail(isClientsTurn ? new ClientTimeoutError() : this.#errorOf(LATE))
    this.#giveUp(!isClientsTurn)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(new GivenUpError(false))
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#isOver) return
    this.#status = statusCode
    const { answerHeaders, mostBytes } = this.#plan
    const hasBody = this.#options!.method !== 'HEAD' && statusCode !== 204 && statusCode !== 304
    if (hasBody && mostBytes >= 0 && Number(headers['content-length'] ?? 0) > mostBytes)
      return this.#drop(controller, TOO_LARGE)
    if (hasBody && this.#exchange?.becomeStream() === false) {
      return this.#drop(controller, NOT_MADE['too-many-streams'])
    }
    this.progress()
    const ofConnection = namedByConnection(headers['connection'])
    this.#handedOn = answerHeaders.filter((name) => headers[name] !== undefined && !ofConnection.includes(name))
    const reply = this.#reply.code(statusCode)
    const isHttp2 = this.#request.raw.httpVersionMajor === 2
    for (const name of this.#handedOn) reply.header(name, isHttp2 ? inUtf8(headers[name]) : headers[name])
    // What is left of the client's body is not read.
    if (this.#upload && !this.#upload.readableEnded) this.#closeConnection()
    if (!hasBody) {
      // It is the end of what the client gets, and none of its business what follows.
      if (statusCode === 204) reply.removeHeader('content-length')
      return
    }
    this.#download = new Download(this)
    // Of a body without an end in sight, such as an event stream, the client is to know the head at once.
    if (headers['content-length'] === undefined) sendHeadAtOnce(reply)
    reply.send(this.#download)
  }

  /** Gives up a response that cannot be taken. */
  #drop(controller: Dispatcher.DispatchController, failure: CallFailure): void {
    this.#tell(failure)
    this.#fail(this.#errorOf(failure))
    controller.abort(new GivenUpError(false))
  }

  /** Has an HTTP/1 connection closed after the response. HTTP/2 ends the stream alone, and has no such header. */
  #closeConnection(): void {
    if (this.#request.raw.httpVersionMajor === 1) this.#reply.header('connection', 'close')
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver || !this.#download) return
    this.progress()
    if (this.#download.push(chunk)) return
    this.#isPaused = true
    controller.pause()
  }

  onResponseEnd(): void {
    if (this.#isOver) return
    this.#tell(undefined)
    if (!this.#download) {
      this.#end()
      this.#reply.send()
      return
    }
    this.#isAnswered = true
    this.#download.push(null)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return
    // A reader that fails is none of the upstream's.
    const { failure, origin } = error instanceof CallError ? error : new CallError({ ...CANNOT_BE_SENT, cause: error })
    if (this.#isSentAgain(failure)) return this.#send(origin, failure.isOutdated)
    this.#origin ??= origin
    this.#tell(failure)
    this.#fail(this.#errorOf(failure))
  }

  /** Whether the upstream has not seen it, or its connection was closed before it did, so that it may be sent again. */
  #isSentAgain({ isUnseen, isOutdated }: CallFailure): boolean {
    if (this.#upload || this.#download) return false
    if (isUnseen && this.#attempts < this.#plan.upstream.size) return true
    if (!isOutdated || this.#isResent || !isIdempotent(this.#plan.method)) return false
    this.#isResent = true
    return true
  }

  /** Tells observers, once, what became of it. */
  #tell(failure: CallFailure | GivenUp | undefined): void {
    const { observing } = this.#plan
    if (!observing || !this.#observed) return
    const end = { duration: performance.now() - this.#startedAt, attempts: this.#attempts, status: this.#status }
    const state = this.#observed
    this.#observed = undefined
    observing.observers.ended(observing.calls[0]!, handedOnEnd({ ...end, origin: this.#origin?.url }, failure), state)
  }

  #errorOf(failure: CallFailure): Error {
    const { name, failures } = this.#plan.upstream
    const origin = this.#origin?.url
    failures.warn(this.#request.log, { what: 'pass-through', call: 'passThrough', upstream: name, origin }, failure)
    return errorFor(failure.reason, `The call to ${name} ${failure.message}`, failure.cause)
  }

  #fail(error: Error): void {
    if (!this.#download) return this.#refuse(error)
    this.#end()
    const { raw } = this.#reply
    if (raw.headersSent) {
      reset(this.#request.raw)
    } else {
      // They are about an answer that does not come.
      for (const name of this.#handedOn) {
        this.#reply.removeHeader(name)
        raw.removeHeader(name)
      }
      this.#reply.code((error as { statusCode?: number }).statusCode ?? 502)
    }
    this.#download.destroy(error)
  }

  #refuse(error: Error): void {
    this.#end()
    for (const name of this.#handedOn) this.#reply.removeHeader(name)
    const { raw } = this.#request
    if (!raw.readableEnded && this.#request.body !== undefined) {
      // The rest of the body would be taken for another request.
      this.#closeConnection()
      raw.resume()
    }
    this.#reply.code((error as { statusCode?: number }).statusCode ?? 500).send(error)
  }

  #giveUp(isLate: boolean): void {
    this.#end()
    const error = new GivenUpError(isLate)
    if (this.#controller) this.#controller.abort(error)
    else this.#exchange?.cancel(isLate)
    this.#upload?.destroy(error)
  }

  #end(): void {
    this.#isOver = true
    clearTimeout(this.#watch)
  }
}

/** Ends the client's connection so that nobody takes what has come for all there is, HTTP/1.0 clients included. */
function reset(request: IncomingMessage | Http2ServerRequest): void {
  if ('stream' in request) return request.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  const { socket } = request
  if (!(socket instanceof Socket)) return
  try {
    socket.resetAndDestroy()
  } catch {
    // TLS has an end of its own, which is missing then; Unix sockets have no reset.
    socket.destroy()
  }
}

/** The bytes of a header, which HTTP/1 has as Latin-1 in strings, as Node's HTTP/2 writes them: in UTF-8. */
function inUtf8(value: string | string[] | undefined): string | string[] | undefined {
  if (Array.isArray(value)) return value.map((one) => inUtf8(one) as string)
  if (value === undefined || !BEYOND_ASCII.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : value
}

const BEYOND_ASCII = /[\x80-\xff]/

/** Once Fastify has put the headers together, unless a part of the body or an error comes with them. */
function sendHeadAtOnce({ raw }: FastifyReply): void {
  raw.once('pipe', () => setImmediate(flush, raw))
}

function flush(response: ServerResponse): void {
  if (!response.headersSent && !response.destroyed) response.flushHeaders()
}

/** What the upstream's connection begins by that, such as a timer, would hold the request's async context. */
const inContextOfModule = AsyncLocalStorage.snapshot()

function resume(controller: Dispatcher.DispatchController): void {
  controller.resume()
}

function leaveOf(passThrough: PassThrough): () => void {
  return () => passThrough.leave()
}

function expire(passThrough: PassThrough): void {
  passThrough.expire()
}
