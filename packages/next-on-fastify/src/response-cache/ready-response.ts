// A cached response, ready to be written in as few pieces as Node allows. A compressed response of Next usually has no
// length: Node would write its head, chunk length, chunk and end one after the other. `chunkedEncoding` avoids that. It
// is in Node's types, but undocumented: if one trial shows that it does not work, Node frames each chunk.

import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { RecordedResponse, WriteMethods } from './recorder.ts'
import { valueOf } from './response-headers.ts'

/** A response that is ready to be written. The characters of a string are its bytes, in `latin1`. */
export interface ReadyResponse extends RecordedResponse<Buffer | string> {
  /** The body as the one chunk that is sent, if the head has no length. It shares the bytes of the body. */
  readonly chunk?: Buffer | string
}

/**
 * Maximum bytes of a body that is cached as a string, which Node writes together with its head. Small strings take up
 * to 10 % less CPU, large ones more. See docs/measurements.md#one-piece-responses
 */
const MAX_STRING_BYTES = 10_240

const CHUNK_END = '\r\n0\r\n\r\n'

/** Makes a response ready to be written. */
export function readyResponse({ status, head, body }: RecordedResponse): ReadyResponse {
  if (body.length === 0 || valueOf(head, 'content-length') !== undefined) {
    return { status, head, body: asString(body) }
  }
  const start = `${body.length.toString(16)}\r\n`
  const chunk = asString(Buffer.concat([Buffer.from(start), body, Buffer.from(CHUNK_END)]))
  const [from, to] = [start.length, start.length + body.length]
  return { status, head, body: typeof chunk === 'string' ? chunk.slice(from, to) : chunk.subarray(from, to), chunk }
}

function asString(bytes: Buffer): Buffer | string {
  return bytes.length > MAX_STRING_BYTES ? bytes : bytes.toString('latin1')
}

/** Whether Node writes a body unframed if `chunkedEncoding` is turned off after the head has announced chunks. */
export function canFrameChunks(Response: typeof ServerResponse = ServerResponse): boolean {
  const written: Buffer[] = []
  const socket = new Duplex({
    read: () => undefined,
    write: (piece: Buffer, _encoding, done) => {
      written.push(piece)
      done()
    },
  }) as Socket
  const request = new IncomingMessage(socket)
  Object.assign(request, { method: 'GET', httpVersionMajor: 1, httpVersionMinor: 1 })
  try {
    const response = new Response(request)
    response.assignSocket(socket)
    response.writeHead(200)
    if (!response.chunkedEncoding) return false
    response.chunkedEncoding = false
    response.end('body', 'latin1')
  } catch {
    // Code that wraps Node's methods expects a request of a client.
    return false
  }
  const [head = '', ...body] = Buffer.concat(written).toString('latin1').split('\r\n\r\n')
  return /\r\ntransfer-encoding: chunked(?:\r\n|$)/i.test(head) && body.join('\r\n\r\n') === 'body'
}

/** Whether chunks can be framed here. */
export const CAN_FRAME_CHUNKS: boolean = canFrameChunks()

const { end: originalEnd } = ServerResponse.prototype as unknown as WriteMethods

/** Writes a response with its head or another one, by the given original methods if the response was wrapped. */
export function writeResponse(
  response: ServerResponse,
  { status, head: ownHead, body, chunk }: ReadyResponse,
  { writeHead, end }: WriteMethods = response as unknown as WriteMethods,
  head: readonly string[] = ownHead,
): void {
  writeHead.call(response, status, head)
  // Code that wraps the response, such as compression, must see the plain body.
  const isFramed = CAN_FRAME_CHUNKS && chunk !== undefined && end === originalEnd && response.chunkedEncoding
  if (isFramed) response.chunkedEncoding = false
  end.call(response, isFramed ? chunk : body, 'latin1')
}
