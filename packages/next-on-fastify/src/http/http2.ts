// Adapts HTTP/2 to Next, which supports HTTP/1.1 only: it fails on pseudo-headers, needs `host`, and sets status texts and
// connection headers. It gets HTTP/1.1 messages over an HTTP/2 stream. They extend Node's classes, so that all methods
// exist which Next, its dependencies or a hook may call.

import { IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { constants, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'

/** A request and its response for Next. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Returns HTTP/1.1 messages: the given ones, or adapters for HTTP/2. */
export function inHttp1(
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
): Exchange {
  if (request.httpVersionMajor !== 2) return { request, response } as Exchange
  const adapted = new Http1Request(request as Http2ServerRequest)
  return { request: adapted, response: new Http1Response(adapted, response as Http2ServerResponse) }
}

class Http1Request extends IncomingMessage {
  readonly #from: Http2ServerRequest
  #isRead = false
  #isDropped = false

  constructor(from: Http2ServerRequest) {
    super(from.socket)
    this.#from = from
    this.method = from.method
    this.url = from.url
    this.httpVersion = '1.1'
    this.httpVersionMajor = 1
    this.httpVersionMinor = 1
    // Proxies and caches route by `:authority`. A different `host` would be unchecked.
    const { ':authority': authority, host = '', ...others } = from.headers
    const headers = { host: authority ?? host, ...others }
    this.headers = Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':')))
    this.rawHeaders = Object.entries(this.headers).flatMap(([name, value = []]) =>
      [value].flat().flatMap((one) => [name, one]),
    )
    from.once('close', () => {
      if (!this.complete && from.stream.rstCode !== constants.NGHTTP2_NO_ERROR) this.destroy(reset())
    })
  }

  override _read(): void {
    if (this.#from.stream.endAfterHeaders) {
      this.complete = true
      this.push(null)
      return
    }
    if (!this.#isRead) {
      this.#isRead = true
      this.#from.on('data', (chunk) => {
        if (!this.#isDropped && !this.push(chunk)) this.#from.pause()
      })
      this.#from.on('end', () => {
        // It also ends if the client has disconnected.
        if (this.#from.aborted) return
        this.complete = true
        this.push(null)
      })
    }
    this.#from.resume()
  }

  /** Discards the rest of the body, so that the stream can end. Node does this for a body that was never read. */
  discardRest(): void {
    if (this.#from.stream.endAfterHeaders) this.resume()
    if (!this.#isRead || this.complete) return
    this.#isDropped = true
    this.#from.resume()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.complete) {
      this.aborted = true
      this.emit('aborted')
      // `pipeline` removes the socket if the response is still pending.
      if ((this.socket as Socket | null) !== null) this.#from.stream.close(constants.NGHTTP2_CANCEL)
    }
    // As in Node: without a listener, the error is ignored.
    callback(this.listenerCount('error') > 0 ? error : null)
  }
}

function reset(): Error {
  return Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
}

/** Connection headers. HTTP/2 forbids them, and Node throws. */
const CONNECTION_HEADERS = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
])

const BODILESS = new Set([204, 304])

type Done = (error?: Error | null) => void

class Http1Response extends ServerResponse {
  readonly #to: Http2ServerResponse
  readonly #stream: ServerHttp2Stream
  readonly #request: Http1Request
  #isFlushed = false

  constructor(request: Http1Request, to: Http2ServerResponse) {
    super(request)
    this.#request = request
    this.#to = to
    this.#stream = to.stream
    for (const [name, value] of Object.entries(to.getHeaders())) {
      this.#set(name, value)
      to.removeHeader(name)
    }
    const { socket } = to
    Object.defineProperties(this, {
      // Callers watch the socket to notice a disconnected client.
      socket: { value: socket },
      writableFinished: { get: () => this.writableEnded && this.#isFlushed },
      writableNeedDrain: { get: () => to.writableNeedDrain },
      writableLength: { get: () => to.writableLength },
    })
    this.#stream.on('drain', () => this.emit('drain'))
    this.#stream.once('finish', () => this.#flushed())
    this.#stream.once('close', () => {
      this.#mark({ destroyed: true, _closed: true })
      this.emit('close')
    })
  }

  override writeHead(status: number, ...rest: unknown[]): this {
    // Node's method throws the right error.
    if (this.headersSent) return super.writeHead(status)
    const given = rest.find((one) => typeof one === 'object' && one !== null) as
      | OutgoingHttpHeaders
      | string[]
      | undefined
    this.#merge(given)
    this.statusCode = status
    const head: OutgoingHttpHeaders = {}
    for (const name of this.getHeaderNames()) {
      if (!CONNECTION_HEADERS.has(name)) head[name] = singleLine(name, this.getHeader(name))
    }
    this.#to.writeHead(status, head)
    this.#mark({ _header: 'HTTP/2' })
    return this
  }

  override flushHeaders(): void {
    if (!this.headersSent) this.writeHead(this.statusCode)
  }

  override write(chunk: unknown, ...rest: unknown[]): boolean {
    const { encoding, done } = writeArguments(rest)
    if (this.writableEnded) {
      done?.(Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' }))
      return false
    }
    this.flushHeaders()
    return this.#send(chunk, encoding, done)
  }

  override end(...all: unknown[]): this {
    const [chunk, ...rest] = typeof all[0] === 'function' ? [undefined, ...all] : all
    const { encoding, done } = writeArguments(rest)
    if (this.writableEnded) {
      done?.()
      return this
    }
    if (!this.headersSent) {
      // The whole body is known, so its length is, too.
      const length = chunk === undefined || chunk === null ? 0 : Buffer.byteLength(chunk as string, encoding)
      if (this.#hasBody() && !this.hasHeader('content-length')) this.setHeader('content-length', length)
      this.writeHead(this.statusCode)
    }
    if (chunk !== undefined && chunk !== null) this.#send(chunk, encoding)
    if (done !== undefined) this.once('finish', done)
    this.#mark({ finished: true })
    this.#to.end()
    // Without a body, the stream has ended with the head.
    if (this.#stream.writableFinished) process.nextTick(() => this.#flushed())
    return this
  }

  override destroy(error?: Error): this {
    if (this.destroyed) return this
    this.#mark({ destroyed: true })
    // A reset shows the client that the body is incomplete.
    this.#stream.close(error === undefined ? constants.NGHTTP2_CANCEL : constants.NGHTTP2_INTERNAL_ERROR)
    return this
  }

  #send(chunk: unknown, encoding?: BufferEncoding, done?: Done): boolean {
    if (this.#hasBody()) return this.#to.write(chunk as string, encoding ?? 'utf8', done as (error: Error) => void)
    if (done !== undefined) process.nextTick(done)
    return true
  }

  #hasBody(): boolean {
    return this.req.method !== 'HEAD' && !BODILESS.has(this.statusCode)
  }

  /** Headers of `writeHead` replace headers that were set before. */
  #merge(given: OutgoingHttpHeaders | readonly string[] = {}): void {
    if (!Array.isArray(given)) {
      for (const [name, value] of Object.entries(given as OutgoingHttpHeaders)) this.#set(name, value)
      return
    }
    const names = given.filter((_, index) => index % 2 === 0) as string[]
    for (const name of names) this.removeHeader(name)
    for (const [index, name] of names.entries()) this.appendHeader(name, given[index * 2 + 1] as string)
  }

  #set(name: string, value: OutgoingHttpHeader | undefined): void {
    if (value !== undefined) this.setHeader(name, value)
  }

  /** Called when everything is flushed. */
  #flushed(): void {
    // The stream of a disconnected client ends, too.
    if (!this.writableEnded || this.#isFlushed || this.#stream.aborted) return
    this.#isFlushed = true
    this.emit('finish')
    this.#request.discardRest()
  }

  /** Sets properties that Node sets during an HTTP/1.1 response. */
  #mark(state: { destroyed?: true; finished?: true; _closed?: true; _header?: string }): void {
    Object.assign(this, state)
  }
}

/** Headers that HTTP/2 in Node allows only once. Joined into one line, they mean the same to clients. */
const SINGLE_LINE_HEADERS = new Set([
  'access-control-allow-credentials',
  'access-control-max-age',
  'age',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-md5',
  'content-range',
  'content-type',
  'date',
  'etag',
  'expires',
  'last-modified',
  'location',
  'retry-after',
  'x-content-type-options',
])

function singleLine(name: string, value: OutgoingHttpHeader | undefined): OutgoingHttpHeader | undefined {
  return Array.isArray(value) && SINGLE_LINE_HEADERS.has(name) ? value.join(', ') : value
}

function writeArguments([first, second]: readonly unknown[]): {
  encoding?: BufferEncoding | undefined
  done?: Done | undefined
} {
  if (typeof first === 'function') return { done: first as Done }
  return { encoding: first as BufferEncoding | undefined, done: second as Done | undefined }
}
