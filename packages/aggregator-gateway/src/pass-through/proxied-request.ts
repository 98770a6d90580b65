// Streams a request to an upstream and its response to the client, byte by byte.

import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import type { Readable } from 'node:stream'
import { errorCodes, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Dispatcher } from 'undici'
import { ClientTimeoutError } from '../errors.ts'
import {
  AbortedError,
  type Aborted,
  type CallFailure,
  CLIENT_LEFT,
  GATEWAY_CLOSES,
  errorFor,
  LATE,
  REJECTIONS,
  TOO_LARGE,
  UNSENDABLE,
} from '../failure-reasons.ts'
import { markLogged } from '../logged-errors.ts'
import { isTraceHeader } from '../http/header-rules.ts'
import { isIdempotent } from '../http/methods.ts'
import { withQuery } from '../request/forwarded-query.ts'
import type { Values } from '../request/placeholders.ts'
import { type Headers, renderHeaders } from '../request/request-headers.ts'
import { AsyncContextHandler } from '../runtime/async-context-handler.ts'
import { exchange, type Exchange, ExchangeError, type Requester } from '../upstream/exchange.ts'
import type { Origin } from '../upstream/origin.ts'
import { type DownloadOwner, Upload, type UploadOwner } from './bodies.ts'
import { ClientResponse } from './client-response.ts'
import type { EndlessStream } from './open-streams.ts'
import type { PlannedPassThrough } from './plan.ts'
import { ProxyReport } from './proxy-report.ts'
import { type StallOwner, StallTimer } from './stall-timer.ts'

export class ProxiedRequest
  implements Values, UploadOwner, DownloadOwner, StallOwner, EndlessStream, Requester, Dispatcher.DispatchHandler
{
  readonly #plan: PlannedPassThrough
  readonly #response: ClientResponse
  readonly #report: ProxyReport
  readonly #timer: StallTimer
  #options: Dispatcher.DispatchOptions | undefined
  #attempts = 0
  /** The request was sent again, after a keep-alive connection was closed. */
  #isResent = false
  #origin: Origin | undefined
  #exchange: Exchange | undefined
  #upload: Upload | undefined
  #controller: Dispatcher.DispatchController | undefined
  #isOver = false

  constructor(plan: PlannedPassThrough, request: FastifyRequest, reply: FastifyReply) {
    this.#plan = plan
    this.#response = new ClientResponse(reply)
    this.#report = new ProxyReport(plan, request)
    this.#timer = new StallTimer(this, plan)
  }

  get request(): FastifyRequest {
    return this.#response.request
  }
  callValue(): undefined {
    return undefined
  }
  get isClientsTurn(): boolean {
    return this.#response.hasBody ? this.#response.isClientsTurn : (this.#upload?.isWaiting ?? false)
  }

  get mayPause(): boolean {
    return this.#response.mayPause
  }

  start(): void {
    const { request } = this
    const { path, method, headers, forwardQuery, isPrivate } = this.#plan
    let rendered: string
    let renderedHeaders: Headers
    try {
      rendered = withQuery(path.render(this), forwardQuery, request.query)
      const added = this.#report.callHeaders()
      this.#response.isPrivate = isPrivate || (added !== undefined && !Object.keys(added).every(isTraceHeader))
      renderedHeaders = renderHeaders(headers, this, added)
      this.#upload = this.#startUpload()
    } catch (error) {
      this.#end()
      return this.#response.reject(error as Error)
    }
    const length = this.#upload && request.headers['content-length']
    const all = { ...renderedHeaders, ...(length === undefined ? {} : { 'content-length': length }) }
    this.#report.started(all)
    this.#options = {
      path: rendered,
      method: request.method === 'HEAD' && method === 'GET' ? 'HEAD' : method,
      headers: all,
      body: this.#upload ?? null,
    }
    this.#response.raw.once('close', AsyncResource.bind(leaveOf(this)))
    this.#timer.start()
    this.#send()
  }

  #startUpload(): Upload | undefined {
    const { body, headers, routeOptions } = this.request
    if (!this.#plan.forwardsBody || body === undefined) return undefined
    const maxBytes = routeOptions.bodyLimit
    if (Number(headers['content-length'] ?? 0) > maxBytes) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
    return new Upload(this, body as Readable, maxBytes)
  }

  #send(avoid?: Origin, isFresh = false): void {
    this.#attempts++
    this.#controller = undefined
    const { upstream, maxBytes } = this.#plan
    const handler = new AsyncContextHandler(this)
    const slot = this.#upload ? 'stream' : 'call-then-stream'
    const options = { avoid, isFresh, maxBytes, slot, requester: this } as const
    if (upstream.cache) upstream.cache.dispatch(this.#options!, handler, options)
    else this.#origin = exchange(upstream, this.#options!, handler, options)
  }

  exchangeBegan(one: Exchange): void {
    if (this.#isOver) one.cancel(false)
    else this.#exchange = one
  }

  progress(): void {
    this.#timer.progress()
  }

  /** The client reads on. */
  resume(): void {
    if (this.#response.resume()) this.progress()
    if (this.#controller) inModuleContext(resume, this.#controller)
  }

  uploadFailed(error: Error): void {
    if (this.#isOver) return
    this.#reportEnd(CLIENT_LEFT)
    this.#fail(error)
    this.#abort(false)
  }

  /** The client has closed the connection. */
  leave(): void {
    if (this.#isOver) return
    this.#reportEnd(CLIENT_LEFT)
    this.#abort(false)
  }

  /** Ends an event stream as if its upstream had ended it. */
  finish(): void {
    this.#reportEnd(GATEWAY_CLOSES)
    this.#response.end()
    this.#abort(false)
  }

  stalled(isClientsFault: boolean): void {
    this.#reportEnd(isClientsFault ? CLIENT_LEFT : LATE)
    this.#fail(isClientsFault ? new ClientTimeoutError(this.#plan.clientTimeout) : this.#errorOf(LATE))
    this.#abort(!isClientsFault)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(new AbortedError(false))
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#isOver) return
    this.#report.status = statusCode
    const { maxBytes, heartbeat } = this.#plan
    const hasBody = this.#options!.method !== 'HEAD' && statusCode !== 204 && statusCode !== 304
    if (hasBody && maxBytes >= 0 && Number(headers['content-length'] ?? 0) > maxBytes) {
      return this.#drop(controller, TOO_LARGE)
    }
    if (hasBody && this.#exchange?.becomeStream() === false) {
      return this.#drop(controller, REJECTIONS['too-many-streams'])
    }
    this.progress()
    this.#response.setHead(statusCode, headers, this.#plan.responseHeaders)
    // The rest of the client's body is not read.
    if (this.#upload && !this.#upload.readableEnded) this.#response.closeConnection()
    if (hasBody) this.#response.startBody(this, headers['content-length'] !== undefined)
    else if (statusCode === 204) this.#response.withoutLength()
    if (!hasBody || heartbeat === undefined || !isEventStream(headers)) return
    this.#response.startHeartbeat(heartbeat)
    this.#plan.endless.add(this)
  }

  /** Aborts a response that cannot be forwarded. */
  #drop(controller: Dispatcher.DispatchController, failure: CallFailure): void {
    this.#reportEnd(failure)
    this.#fail(this.#errorOf(failure))
    controller.abort(new AbortedError(false))
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver || !this.#response.hasBody) return
    this.progress()
    if (!this.#response.push(chunk)) controller.pause()
  }

  onResponseEnd(): void {
    if (this.#isOver) return
    this.#reportEnd(undefined)
    // The client may still read the rest of a body: the request is over when it leaves.
    this.#stopHeartbeat()
    if (this.#response.hasBody) return this.#response.end()
    this.#end()
    this.#response.sendHead()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return
    const { failure, origin } =
      error instanceof ExchangeError ? error : new ExchangeError({ ...UNSENDABLE, cause: error })
    if (this.#isSentAgain(failure)) return this.#send(origin, failure.isStaleSocket)
    this.#origin ??= origin
    this.#reportEnd(failure)
    this.#fail(this.#errorOf(failure))
  }

  /** Whether the upstream has not seen the request, or a keep-alive connection was closed before it did. */
  #isSentAgain({ isUnsent, isStaleSocket }: CallFailure): boolean {
    if (this.#upload || this.#response.hasBody) return false
    if (isUnsent && this.#attempts < this.#plan.upstream.size) return true
    if (!isStaleSocket || this.#isResent || !isIdempotent(this.#plan.method)) return false
    this.#isResent = true
    return true
  }

  #reportEnd(failure: CallFailure | Aborted | undefined): void {
    this.#report.ended(this.#attempts, this.#origin?.url, failure)
  }

  #errorOf(failure: CallFailure): Error {
    const { name, failures } = this.#plan.upstream
    const origin = this.#origin?.url
    const call = { what: 'pass-through', call: 'passThrough', upstream: name, origin, level: 'error' } as const
    failures.write(this.request.log, call, failure)
    return markLogged(errorFor(failure.reason, `The call to ${name} ${failure.message}`, failure.cause))
  }

  #fail(error: Error): void {
    this.#end()
    this.#response.fail(error)
  }

  /** Ends it without a response. `isLate` if the upstream stalled, which is the origin's fault. */
  #abort(isLate: boolean): void {
    this.#end()
    const error = new AbortedError(isLate)
    if (this.#controller) this.#controller.abort(error)
    else this.#exchange?.cancel(isLate)
    this.#upload?.destroy(error)
  }

  #end(): void {
    this.#isOver = true
    this.#timer.clear()
    this.#stopHeartbeat()
  }

  #stopHeartbeat(): void {
    this.#response.stopHeartbeat()
    this.#plan.endless.delete(this)
  }
}

/** Whether comments can be added. A compressed stream has no place for them, nor has one of a fixed length. */
function isEventStream(headers: Readonly<Record<string, string | string[] | undefined>>): boolean {
  const { 'content-type': type, 'content-encoding': encoding, 'content-length': length } = headers
  return /^text\/event-stream\b/i.test(String(type)) && encoding === undefined && length === undefined
}

/** Resuming starts timers of the connection, which would hold the request's async context. */
const inModuleContext = AsyncLocalStorage.snapshot()

function resume(controller: Dispatcher.DispatchController): void {
  controller.resume()
}

function leaveOf(request: ProxiedRequest): () => void {
  return () => request.leave()
}
