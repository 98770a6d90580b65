// Compresses the body of a response while it is written.

import type { IncomingMessage, ServerResponse } from 'node:http'
import onHeaders from 'on-headers'
import vary from 'vary'
import type { Encoder } from './encoders.ts'

/** Minimum bytes of a body that is compressed, as in Next. A body of unknown length is compressed. */
const MIN_BYTES = 1024

/** Decides how responses are compressed. */
export interface Compressor {
  /** Whether bodies of this type become smaller. */
  isCompressible(this: void, request: IncomingMessage, response: ServerResponse): boolean
  /** The encoding for an `Accept-Encoding` header, and its encoder. Undefined if the body must stay as it is. */
  encoderFor(accepted: string | undefined): readonly [encoding: string, encoder: Encoder] | undefined
}

type Write = (this: object, ...all: readonly unknown[]) => boolean

/** The wrapped methods of a response. */
interface Wrapped {
  readonly write: Write
  readonly end: (this: ServerResponse, ...all: readonly unknown[]) => ServerResponse
}

/** Compresses a response, if that is allowed. Call it before anything is written. */
export function compressResponse(request: IncomingMessage, response: ServerResponse, compressor: Compressor): void {
  const { write, end } = response as unknown as Wrapped
  let length: number | undefined
  let body: EncodedBody | undefined
  let hasEnded = false
  onHeaders(response, () => {
    if (!mayCompress(request, response, compressor, length)) return
    const [encoding, encoder] = compressor.encoderFor(request.headers['accept-encoding']?.toString()) ?? []
    if (encoding === undefined || encoder === undefined) return
    const isStreamed = length === undefined && !response.hasHeader('content-length')
    body = new EncodedBody(response, encoder, { write, end }, isStreamed)
    response.setHeader('Content-Encoding', encoding)
    response.removeHeader('Content-Length')
    weakenEtag(response)
  })
  Object.assign(response, {
    flush: () => body?.flush(),
    write(...all: readonly unknown[]): boolean {
      if (hasEnded) return false
      if (!response.headersSent) response.writeHead(response.statusCode)
      return body === undefined ? write.call(response, ...all) : body.write(...all)
    },
    end(...all: readonly unknown[]): ServerResponse {
      if (hasEnded) return response
      if (!response.headersSent) {
        length = lengthOf(...all)
        response.writeHead(response.statusCode)
      }
      if (body === undefined) return end.call(response, ...all)
      hasEnded = true
      body.end(...all)
      return response
    },
  })
}

const NO_TRANSFORM = /(?:^|,)\s*no-transform\s*(?:,|$)/i
const EVENT_STREAM = /^text\/event-stream\b/i

/** Whether a response may be compressed, as far as its own headers decide. Sets `Vary` where Next does. */
function mayCompress(
  request: IncomingMessage,
  response: ServerResponse,
  { isCompressible }: Compressor,
  length: number | undefined,
): boolean {
  const header = (name: string): string => String(response.getHeader(name) ?? '')
  if (!isCompressible(request, response) || NO_TRANSFORM.test(header('cache-control'))) return false
  vary(response, 'Accept-Encoding')
  if (EVENT_STREAM.test(header('content-type'))) return false
  const encoding = header('content-encoding')
  if (encoding !== '' && encoding !== 'identity') return false
  if (request.method === 'HEAD' || !hasWholeBody(response)) return false
  return !(Number(response.getHeader('content-length') ?? length) < MIN_BYTES)
}

function hasWholeBody(response: ServerResponse): boolean {
  const { statusCode } = response
  if (statusCode < 200 || statusCode === 204 || statusCode === 206 || statusCode === 304) return false
  return !response.hasHeader('content-range')
}

/** A strong tag would say that both forms have the same bytes. */
function weakenEtag(response: ServerResponse): void {
  const etag = response.getHeader('etag')
  if (typeof etag === 'string' && etag.startsWith('"')) response.setHeader('ETag', `W/${etag}`)
}

/** The length of a body that is written at once. */
function lengthOf(chunk?: unknown, encoding?: unknown): number {
  if (chunk === undefined || chunk === null || typeof chunk === 'function') return 0
  return typeof chunk === 'string' ? Buffer.byteLength(chunk, encodingOf(encoding)) : (chunk as Uint8Array).byteLength
}

function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'
}

/** A body on its way through an encoder. */
class EncodedBody {
  readonly #response: ServerResponse
  readonly #encoder: Encoder
  readonly #isStreamed: boolean
  #pendingFlush: NodeJS.Immediate | undefined

  /** @param isStreamed - whether clients wait for parts of the body */
  constructor(response: ServerResponse, encoder: Encoder, { write, end }: Wrapped, isStreamed: boolean) {
    const { stream } = encoder
    let isOwnDrain = false
    stream.on('data', (piece: Buffer) => {
      if (!write.call(response, piece)) stream.pause()
    })
    stream.on('end', () => end.call(response))
    stream.on('error', (error) => response.destroy(error))
    stream.on('drain', () => {
      isOwnDrain = true
      response.emit('drain')
      isOwnDrain = false
    })
    // Those who write wait for both. If the encoder continued by its own event, a slow client would fill the memory.
    response.on('drain', () => {
      if (!isOwnDrain) stream.resume()
    })
    // It is still open if the client has disconnected.
    response.once('close', () => {
      clearImmediate(this.#pendingFlush)
      stream.destroy()
    })
    this.#response = response
    this.#encoder = encoder
    this.#isStreamed = isStreamed
  }

  write(...all: readonly unknown[]): boolean {
    const { stream } = this.#encoder
    if (stream.destroyed) return false
    if (this.#isStreamed) this.flush()
    return (stream.write as Write).call(stream, ...all)
  }

  end(...all: readonly unknown[]): void {
    clearImmediate(this.#pendingFlush)
    const done = all.findLast((one) => typeof one === 'function') as (() => void) | undefined
    if (done !== undefined) this.#response.once('finish', done)
    const { stream } = this.#encoder
    if (stream.destroyed) return
    const [chunk, encoding] = all.filter((one) => typeof one !== 'function')
    if (chunk === undefined || chunk === null) stream.end()
    else stream.end(chunk, encodingOf(encoding))
  }

  /** Flushes once for all chunks of an event-loop tick. Each flush costs bytes, and work of another thread. */
  flush(): void {
    if (this.#pendingFlush !== undefined) return
    this.#pendingFlush = setImmediate(() => {
      this.#pendingFlush = undefined
      if (!this.#encoder.stream.destroyed) this.#encoder.flush()
    })
  }
}
