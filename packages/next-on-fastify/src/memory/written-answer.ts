// A kept answer as it lies ready to be written, in as few pieces as Node lets it be. Most that Next compresses has no length in
// its head, and is sent in chunks: Node writes the head, the length of the chunk, the chunk, and what ends it one after the
// other.
//
// Node's documentation does not tell of `chunkedEncoding`, though its types do: whether it is there, and does what it is used
// for, is tried once. Where it does not, Node frames each chunk itself.

import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { type RecordedAnswer, valueOf, type Writing } from './recorded-answer.ts'

/** An answer that is ready to be written. The bytes of a string are its characters, in `latin1`. */
export interface ReadyAnswer extends RecordedAnswer<Buffer | string> {
  /** The body as the one chunk that is sent, where the head tells no length: of the same bytes as the body. */
  readonly chunk?: Buffer | string
}

/**
 * Bytes of what is kept as a string, at the most: Node writes such a one together with its head. On a bare `node:http`
 * that took 10 % off the CPU of an answer of 37 bytes, 7 % with 1,000 and 4 % from 5,000 to 10,000, nothing with 12,000 to
 * 16,000, and with 40,000 it took 16 % more.
 */
const ONE_PIECE = 10_240

const CHUNK_END = '\r\n0\r\n\r\n'

/** Makes an answer ready to be written. */
export function readyAnswer({ status, head, body }: RecordedAnswer): ReadyAnswer {
  if (body.length === 0 || valueOf(head, 'content-length') !== undefined) {
    return { status, head, body: inOnePiece(body) }
  }
  const start = `${body.length.toString(16)}\r\n`
  const chunk = inOnePiece(Buffer.concat([Buffer.from(start), body, Buffer.from(CHUNK_END)]))
  const [from, to] = [start.length, start.length + body.length]
  return { status, head, body: typeof chunk === 'string' ? chunk.slice(from, to) : chunk.subarray(from, to), chunk }
}

function inOnePiece(bytes: Buffer): Buffer | string {
  return bytes.length > ONE_PIECE ? bytes : bytes.toString('latin1')
}

/** Whether Node writes a body as it is that is not said to be in chunks any more once its head says that. */
export function writesAsIs(Response: typeof ServerResponse = ServerResponse): boolean {
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
    // What has been put before Node's methods expects a request of a client.
    return false
  }
  const [head = '', ...body] = Buffer.concat(written).toString('latin1').split('\r\n\r\n')
  return /\r\ntransfer-encoding: chunked(?:\r\n|$)/i.test(head) && body.join('\r\n\r\n') === 'body'
}

/** Whether a chunk is written as one here. */
export const WRITES_CHUNKS: boolean = writesAsIs()

const { end: endOfNode } = ServerResponse.prototype as unknown as Writing

/** Writes an answer, by methods of the response as they were before something covered them where those are given. */
export function writeAnswer(
  response: ServerResponse,
  { status, head, body, chunk }: ReadyAnswer,
  { writeHead, end }: Writing = response as unknown as Writing,
): void {
  writeHead.call(response, status, head)
  // What covers it, as compression does, is to see the body.
  const isFramed = WRITES_CHUNKS && chunk !== undefined && end === endOfNode && response.chunkedEncoding
  if (isFramed) response.chunkedEncoding = false
  end.call(response, isFramed ? chunk : body, 'latin1')
}
