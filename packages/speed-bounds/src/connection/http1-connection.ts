// HTTP/1.1 with one pending request. node:http has 27 µs of CPU per request, this has 13: a generator must be cheaper
// than the servers that it measures. See docs/measurements.md#cost-of-a-client

import { HTTPParser } from 'http-parser-js'
import { connect, type Socket } from 'node:net'
import { urlToHttpOptions } from 'node:url'
import type { Cancel, Connection, OnEnd, RepeatedRequest } from './connection.ts'

/** Milliseconds before the server's own limit from which on an idle connection is not used again. */
const IDLE_MARGIN = 1000

export class Http1Connection implements Connection {
  readonly #socket: Socket
  readonly #bytes: Buffer
  readonly #isHead: boolean
  readonly #parser = new HTTPParser(HTTPParser.RESPONSE)
  #pending: OnEnd | undefined
  #isOpen = true
  /** Whether the current response is the last one of this connection. */
  #isLast = false
  #status = 0
  /** Time from which on the server may close an idle connection. */
  #idleUntil = Infinity

  constructor(request: RepeatedRequest) {
    const { hostname, port } = urlToHttpOptions(new URL(request.origin))
    this.#bytes = bytesOf(request)
    this.#isHead = request.method === 'HEAD'
    this.#socket = connect({ host: hostname!, port: Number(port ?? 80), noDelay: true })
    this.#socket.on('data', (chunk) => this.#read(chunk))
    this.#socket.once('error', (error) => this.#end(error))
    this.#socket.once('close', () => this.#closed())
    this.#parser[HTTPParser.kOnHeadersComplete] = (info) => this.#head(info)
    this.#parser[HTTPParser.kOnBody] = () => {}
    this.#parser[HTTPParser.kOnMessageComplete] = () => this.#complete()
  }

  get free(): number {
    if (performance.now() > this.#idleUntil && !this.#pending) this.close()
    return this.#isOpen && !this.#pending ? 1 : 0
  }

  send(onEnd: OnEnd): Cancel {
    this.#pending = onEnd
    this.#socket.write(this.#bytes)
    return () => {
      if (this.#pending !== onEnd) return
      this.#pending = undefined
      this.close()
    }
  }

  close(): void {
    this.#isOpen = false
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    const result = this.#parser.execute(chunk, 0, chunk.length)
    if (result instanceof Error) this.#end(result)
  }

  #head({ headers, statusCode, shouldKeepAlive }: Head): 1 | undefined {
    this.#status = statusCode
    this.#isLast = !shouldKeepAlive
    this.#idleUntil = performance.now() + maxIdleTime(headers)
    return this.#isHead ? 1 : undefined
  }

  #complete(): void {
    // Informational responses precede the real one.
    if (this.#status < 200 && this.#status !== 101) return
    const status = this.#status
    if (this.#isLast) this.close()
    this.#end(status)
  }

  /** The body of a response without a length ends with its connection. */
  #closed(): void {
    this.#isOpen = false
    if (!this.#pending) return
    this.#parser.finish()
    this.#end(new Error('The connection was closed before the response ended.'))
  }

  #end(outcome: number | Error): void {
    if (typeof outcome !== 'number') this.close()
    const onEnd = this.#pending
    this.#pending = undefined
    onEnd?.(outcome)
  }
}

/** The used parts of a parsed head. */
interface Head {
  readonly headers: readonly string[]
  readonly statusCode: number
  readonly shouldKeepAlive: boolean
}

/** `Keep-Alive: timeout=5` as milliseconds, less a margin. */
function maxIdleTime(headers: readonly string[]): number {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]!.length !== 10 || headers[index]!.toLowerCase() !== 'keep-alive') continue
    const [, seconds] = /timeout=(\d+)/.exec(headers[index + 1]!) ?? []
    if (seconds !== undefined) return Number(seconds) * 1000 - IDLE_MARGIN
  }
  return Infinity
}

function bytesOf({ origin, method, path, headers, body, keepAlive }: RepeatedRequest): Buffer {
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  const lines = [
    `${method} ${path} HTTP/1.1`,
    ...(names.has('host') ? [] : [`host: ${new URL(origin).host}`]),
    ...(keepAlive ? [] : ['connection: close']),
    ...(body === undefined || names.has('content-length') ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`)
}
