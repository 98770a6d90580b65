// Forwards the bytes of the client's body. Serializing the parsed body again would change numbers that a double cannot hold,
// and turn a text into a JSON string. Fastify parses and validates the same bytes as in any other route.

import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream'
import type { FastifyRequest, preParsingHookHandler, preValidationHookHandler, RouteShorthandOptions } from 'fastify'

/** A body for an upstream. */
export interface ForwardedBody {
  readonly content: Buffer | string
  /** Its `content-type`. */
  readonly type: string | undefined
}

/** The bodies of requests, until the requests are garbage-collected. */
const recordings = new WeakMap<FastifyRequest, Recording>()

/** Passes a body to the parser and records its bytes. */
class Recording extends Transform {
  readonly #source: Readable & { readonly receivedEncodedLength?: number }
  readonly #maxBytes: number
  #chunks: Buffer[] = []
  #size = 0
  /** The body after Fastify's parser. */
  parsed: unknown

  constructor(source: Readable, maxBytes: number) {
    super()
    this.#source = source
    this.#maxBytes = maxBytes
    pipeline(source, this, ignore)
  }

  /** Fastify compares this with `content-length` if a hook has decompressed the body. */
  get receivedEncodedLength(): number {
    return this.#source.receivedEncodedLength ?? 0
  }

  get bytes(): Buffer {
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#size += chunk.length
    // Fastify rejects a larger body, and discards the rest.
    if (this.#size > this.#maxBytes) this.#chunks = []
    else this.#chunks.push(chunk)
    done(null, chunk)
  }
}

/** Options of a route that records bodies for {@link forwardedBody}. */
export function recordingBodies(route: RouteShorthandOptions): RouteShorthandOptions {
  return {
    ...route,
    // After hooks that decompress the body, and before hooks that may replace it.
    preParsing: [...[route.preParsing ?? []].flat(), record] as preParsingHookHandler[],
    preValidation: [note, ...[route.preValidation ?? []].flat()] as preValidationHookHandler[],
  }
}

/**
 * The body to forward: the bytes that the parser has read, or, if a hook has assigned another value to `request.body`,
 * that value as JSON. Undefined if there is no body.
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

/** Whether Fastify reads a body. It reads an empty one, too, if it has a type. */
function hasBody({ headers }: FastifyRequest): boolean {
  const { 'content-type': type, 'transfer-encoding': coding, 'content-length': length } = headers
  return type !== undefined || coding !== undefined || (length !== undefined && length !== '0')
}

function ignore(): void {}
