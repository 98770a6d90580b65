// The client's body as its bytes, which calls forward: serialized anew, numbers that a double cannot hold would change, and
// a text would become a JSON string. Fastify's parsers read the same bytes, and validate them as in any other route.

import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream'
import type { FastifyRequest, preParsingHookHandler, preValidationHookHandler, RouteShorthandOptions } from 'fastify'

/** A body that goes to an upstream. */
export interface ForwardedBody {
  readonly content: Buffer | string
  /** Its `content-type`. */
  readonly type: string | undefined
}

/** Of requests whose body is forwarded: what has been read, until the request is collected. */
const recordings = new WeakMap<FastifyRequest, Recording>()

/** Passes a body to the parser and holds its bytes. */
class Recording extends Transform {
  readonly #source: Readable & { readonly receivedEncodedLength?: number }
  readonly #most: number
  #chunks: Buffer[] = []
  #size = 0
  /** What Fastify's parser has made of it. */
  parsed: unknown

  constructor(source: Readable, most: number) {
    super()
    this.#source = source
    this.#most = most
    pipeline(source, this, ignore)
  }

  /** What Fastify compares with `content-length`, where a hook has decompressed the body. */
  get receivedEncodedLength(): number {
    return this.#source.receivedEncodedLength ?? 0
  }

  get bytes(): Buffer {
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#size += chunk.length
    // Fastify refuses more, and reads on to throw it away.
    if (this.#size > this.#most) this.#chunks = []
    else this.#chunks.push(chunk)
    done(null, chunk)
  }
}

/** The options of a route that holds the bytes of bodies for {@link forwardedBody}. */
export function recordingBodies(route: RouteShorthandOptions): RouteShorthandOptions {
  return {
    ...route,
    // After the hooks that decompress it, and before those that may replace it.
    preParsing: [...[route.preParsing ?? []].flat(), record] as preParsingHookHandler[],
    preValidation: [note, ...[route.preValidation ?? []].flat()] as preValidationHookHandler[],
  }
}

/**
 * What is forwarded of a request: the bytes that its parser has read, or, where a hook has put another value into
 * `request.body`, that value as JSON. Nothing where there is no body.
 */
export function forwardedBody(request: FastifyRequest): ForwardedBody | undefined {
  const recording = recordings.get(request)
  const { body } = request
  if (recording && recording.parsed === body) {
    const content = recording.bytes
    return content.length === 0 ? undefined : { content, type: request.headers['content-type'] }
  }
  return body === undefined || body === null ? undefined : { content: JSON.stringify(body), type: 'application/json' }
}

const record: preParsingHookHandler = (request, _reply, payload, done) => {
  if (!hasBody(request)) return done(null, payload)
  const recording = new Recording(payload, request.routeOptions.bodyLimit)
  recordings.set(request, recording)
  done(null, recording)
}

const note: preValidationHookHandler = (request, _reply, done) => {
  const recording = recordings.get(request)
  if (recording) recording.parsed = request.body
  done()
}

/** Whether Fastify reads a body: it does for one with a type, also if it is empty. */
function hasBody({ headers }: FastifyRequest): boolean {
  const { 'content-type': type, 'transfer-encoding': coding, 'content-length': length } = headers
  return type !== undefined || coding !== undefined || (length !== undefined && length !== '0')
}

function ignore(): void {}
