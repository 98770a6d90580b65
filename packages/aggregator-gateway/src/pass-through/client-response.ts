// The client's side of a pass-through: its response, with the headers and the body of the upstream's response.

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { constants, type Http2ServerRequest } from 'node:http2'
import { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { connectionHeadersOf } from '../http/header-rules.ts'
import { isLogged, logOnce } from '../logged-errors.ts'
import { Download, type DownloadOwner } from './bodies.ts'
import { Heartbeat, type HeartbeatOwner } from './heartbeat.ts'
import { isForSharedCaches, privateCacheControl } from './private-response.ts'

type Headers = Readonly<Record<string, string | string[] | undefined>>

export class ClientResponse implements HeartbeatOwner {
  /** Only the client may cache it. */
  isPrivate = false
  readonly #reply: FastifyReply
  /** Names of headers that were set for the upstream's response. */
  #head: readonly string[] = []
  #download: Download | undefined
  /** The client must read before more is read from the upstream. */
  #isPaused = false
  /** The upstream's response is complete. */
  #isComplete = false
  #heartbeat: Heartbeat | undefined

  constructor(reply: FastifyReply) {
    this.#reply = reply
  }

  get request(): FastifyRequest {
    return this.#reply.request
  }

  get raw(): FastifyReply['raw'] {
    return this.#reply.raw
  }

  get hasBody(): boolean {
    return this.#download !== undefined
  }

  /** Whether the client is to read now. */
  get isClientsTurn(): boolean {
    return this.#isPaused || this.#isComplete
  }

  /** Sets the status and headers of the response. */
  setHead(status: number, headers: Headers, responseHeaders: readonly string[]): void {
    const connectionHeaders = connectionHeadersOf(headers['connection'])
    const forwarded = responseHeaders.filter(
      (name) =>
        headers[name] !== undefined &&
        !connectionHeaders.includes(name) &&
        !(this.isPrivate && isForSharedCaches(name)),
    )
    this.#head = this.isPrivate ? [...forwarded, 'cache-control'] : forwarded
    this.#reply.code(status)
    const isHttp2 = this.request.raw.httpVersionMajor === 2
    if (!forwarded.includes('content-length')) this.withoutLength()
    for (const name of forwarded) this.#reply.header(name, isHttp2 ? inUtf8(headers[name]) : headers[name])
    if (this.isPrivate) this.#reply.header('cache-control', privateCacheControl(headers['cache-control']))
  }

  /** Closes an HTTP/1 connection after the response. HTTP/2 ends the stream alone, and has no such header. */
  closeConnection(): void {
    if (this.request.raw.httpVersionMajor === 1) this.#reply.header('connection', 'close')
  }

  /** Starts to send the body. */
  startBody(owner: DownloadOwner, hasLength: boolean): void {
    this.#download = new Download(owner)
    // A body of unknown length may be endless, such as an event stream: the client needs the head now.
    if (!hasLength) sendHeadEarly(this.#reply.raw)
    this.#reply.send(this.#download)
  }

  /** Sends a comment whenever the event stream pauses for this time, in ms. */
  startHeartbeat(interval: number): void {
    this.#heartbeat = new Heartbeat(this, interval)
  }

  pushComment(comment: Buffer): void {
    if (!this.isClientsTurn) this.#download!.push(comment)
  }

  /** Whether the upstream may pause for any time. */
  get mayPause(): boolean {
    return this.#heartbeat?.isBetweenEvents ?? false
  }

  stopHeartbeat(): void {
    this.#heartbeat?.stop()
  }

  /** Removes the length that a hook has set: a client would take bytes beyond it for the next response. */
  withoutLength(): void {
    const { raw } = this.#reply
    this.#reply.removeHeader('content-length')
    if (raw.hasHeader('content-length')) raw.removeHeader('content-length')
  }

  /** Sends a part of the body. Returns false if the client must read first. */
  push(chunk: Buffer): boolean {
    this.#heartbeat?.passed(chunk)
    if (this.#download!.push(chunk)) return true
    this.#isPaused = true
    return false
  }

  /** The client has read. Returns whether it was its turn. */
  resume(): boolean {
    const wasClientsTurn = this.isClientsTurn
    this.#isPaused = false
    return wasClientsTurn
  }

  /** Ends a response with a body. */
  end(): void {
    this.#isComplete = true
    this.#download!.push(null)
  }

  /** Ends a response without a body. */
  sendHead(): void {
    this.#reply.send()
  }

  fail(error: Error): void {
    if (!this.#download) return this.reject(error)
    const { raw } = this.#reply
    if (raw.headersSent) {
      reset(this.request.raw)
      // Fastify logs an error that comes too late for a response.
      if (isLogged(error)) return void this.#download.destroy()
    } else {
      logOnce(this.#reply, error)
      for (const name of this.#head) {
        this.#reply.removeHeader(name)
        raw.removeHeader(name)
      }
      this.#reply.code((error as { statusCode?: number }).statusCode ?? 502)
    }
    this.#download.destroy(error)
  }

  /** Sends an error instead of the upstream's response. */
  reject(error: Error): void {
    for (const name of this.#head) this.#reply.removeHeader(name)
    const { raw, body } = this.request
    if (!raw.readableEnded && body !== undefined) {
      // The rest of the body would be read as another request.
      this.closeConnection()
      raw.resume()
    }
    logOnce(this.#reply, error)
    this.#reply.code((error as { statusCode?: number }).statusCode ?? 500).send(error)
  }
}

/** Resets the client's connection, so that no client, HTTP/1.0 included, takes a part of the response for all of it. */
function reset(request: IncomingMessage | Http2ServerRequest): void {
  if ('stream' in request) return request.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  const { socket } = request
  if (!(socket instanceof Socket)) return
  try {
    socket.resetAndDestroy()
  } catch {
    // Unix sockets have no reset. TLS has a close message, which is missing then.
    socket.destroy()
  }
}

const BEYOND_ASCII = /[\x80-\xff]/

/** Recodes a header for HTTP/2. HTTP/1 headers are Latin-1 strings; Node writes HTTP/2 headers as UTF-8. */
function inUtf8(value: string | string[] | undefined): string | string[] | undefined {
  if (Array.isArray(value)) return value.map((one) => inUtf8(one) as string)
  if (value === undefined || !BEYOND_ASCII.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : value
}

/** Sends the head once Fastify has set it, unless a part of the body or an error comes with it. */
function sendHeadEarly(raw: ServerResponse): void {
  raw.once('pipe', () => setImmediate(flush, raw))
}

function flush(response: ServerResponse): void {
  if (!response.headersSent && !response.destroyed) response.flushHeaders()
}
