// HTTP/2 for Next, which speaks HTTP/1.1: it makes `Headers` of all that a request has, pseudo-headers among them, asks for
// `host`, and sets reasons and headers of connections. What it gets are messages of HTTP/1.1 that lie over a stream of HTTP/2,
// and are of the classes of Node: all that Next and the packages in it, the memory, or a hook may do with them is there.

import { IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { constants, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'

/** What Next is handed. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** A request and its response, as they are or over HTTP/2, in HTTP/1.1. */
export function inHttp1(
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
): Exchange {
  if (request.httpVersionMajor !== 2) return { request, response } as Exchange
  const asked = new Http1Request(request as Http2ServerRequest)
  return { request: asked, response: new Http1Response(asked, response as Http2ServerResponse) }
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
    // `host` says the same, or something that no proxy and no cache has looked at.
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
        // It ends also where the client has left.
        if (this.#from.aborted) return
        this.complete = true
        this.push(null)
      })
    }
    this.#from.resume()
  }

  /** Lets go what is left, so that the stream can end: of a body that nobody has begun to read, Node does that. */
  leaveRest(): void {
    if (this.#from.stream.endAfterHeaders) this.resume()
    if (!this.#isRead || this.complete) return
    this.#isDropped = true
    this.#from.resume()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.complete) {
      this.aborted = true
      this.emit('aborted')
      // `pipeline` takes it away where the answer is still to be given.
      if ((this.socket as Socket | null) !== null) this.#from.stream.close(constants.NGHTTP2_CANCEL)
    }
    // As Node does it: who does not listen has left it alone.
    callback(this.listenerCount('error') > 0 ? error : null)
  }
}

function reset(): Error {
  return Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
}

/** They are of the connection, which HTTP/2 has its own ways for: Node refuses them. */
const OF_CONNECTION = new Set([
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
  readonly #asked: Http1Request
  #isFlushed = false

  constructor(request: Http1Request, to: Http2ServerResponse) {
    super(request)
    this.#asked = request
    this.#to = to
    this.#stream = to.stream
    for (const [name, value] of Object.entries(to.getHeaders())) {
      this.#set(name, value)
      to.removeHeader(name)
    }
    const { socket } = to
    Object.defineProperties(this, {
      // Some wait for its end to know that a client has left.
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
    // It says so.
    if (this.headersSent) return super.writeHead(status)
    const given = rest.find((one) => typeof one === 'object' && one !== null) as
      | OutgoingHttpHeaders
      | string[]
      | undefined
    this.#merge(given)
    this.statusCode = status
    const head: OutgoingHttpHeaders = {}
    for (const name of this.getHeaderNames()) {
      if (!OF_CONNECTION.has(name)) head[name] = inOneLine(name, this.getHeader(name))
    }
    this.#to.writeHead(status, head)
    this.#mark({ _header: 'HTTP/2' })
    return this
  }

  override flushHeaders(): void {
    if (!this.headersSent) this.writeHead(this.statusCode)
  }

  override write(chunk: unknown, ...rest: unknown[]): boolean {
    const { encoding, done } = told(rest)
    if (this.writableEnded) {
      done?.(Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' }))
      return false
    }
    this.flushHeaders()
    return this.#send(chunk, encoding, done)
  }

  override end(...all: unknown[]): this {
    const [chunk, ...rest] = typeof all[0] === 'function' ? [undefined, ...all] : all
    const { encoding, done } = told(rest)
    if (this.writableEnded) {
      done?.()
      return this
    }
    if (!this.headersSent) {
      // What is given at once has a length that is known.
      const length = chunk === undefined || chunk === null ? 0 : Buffer.byteLength(chunk as string, encoding)
      if (this.#hasBody() && !this.hasHeader('content-length')) this.setHeader('content-length', length)
      this.writeHead(this.statusCode)
    }
    if (chunk !== undefined && chunk !== null) this.#send(chunk, encoding)
    if (done !== undefined) this.once('finish', done)
    this.#mark({ finished: true })
    this.#to.end()
    // Where there is no body, the stream has ended with its head.
    if (this.#stream.writableFinished) process.nextTick(() => this.#flushed())
    return this
  }

  override destroy(error?: Error): this {
    if (this.destroyed) return this
    this.#mark({ destroyed: true })
    // The client is told that this is not the end.
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

  /** Headers that `writeHead` is told take the place of what is there. */
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

  /** All that was written has left. */
  #flushed(): void {
    // A stream whose client has left ends, too.
    if (!this.writableEnded || this.#isFlushed || this.#stream.aborted) return
    this.#isFlushed = true
    this.emit('finish')
    this.#asked.leaveRest()
  }

  /** Sets what Node sets itself while it answers in HTTP/1.1. */
  #mark(state: { destroyed?: true; finished?: true; _closed?: true; _header?: string }): void {
    Object.assign(this, state)
  }
}

/** Node refuses a second line of them. In one line it is the same to clients. */
const OF_ONE_LINE = new Set([
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

function inOneLine(name: string, value: OutgoingHttpHeader | undefined): OutgoingHttpHeader | undefined {
  return Array.isArray(value) && OF_ONE_LINE.has(name) ? value.join(', ') : value
}

function told([first, second]: readonly unknown[]): { encoding?: BufferEncoding | undefined; done?: Done | undefined } {
  if (typeof first === 'function') return { done: first as Done }
  return { encoding: first as BufferEncoding | undefined, done: second as Done | undefined }
}
