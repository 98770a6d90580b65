// Adapts responses to HTTP/2, which neither tRPC nor Fastify does.

import { constants, type Http2ServerResponse } from 'node:http2'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/**
 * HTTP/2 has no headers about the connection (RFC 9113, 8.2.2): Node resets the stream of a response that has one. tRPC sets
 * `transfer-encoding` for streamed batches and `connection` for subscriptions, and hooks written for HTTP/1.1 set others.
 */
const CONNECTION_HEADERS = [
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]

/** Removes headers that HTTP/2 forbids from a reply. Returns the payload to send. */
export function fitForHttp2(reply: FastifyReply, payload: unknown): unknown {
  for (const name of CONNECTION_HEADERS) {
    reply.removeHeader(name)
    // Older versions of Fastify do not remove it from the raw response.
    if (!reply.raw.headersSent) reply.raw.removeHeader(name)
  }
  if (payload instanceof Response) return fitResponse(reply, payload)
  if (payload instanceof Readable) payload.once('error', () => reset(reply))
  return payload
}

function fitResponse(reply: FastifyReply, response: Response): Response {
  const headers = new Headers(response.headers)
  for (const name of CONNECTION_HEADERS) headers.delete(name)
  const { status, statusText } = response
  const body = response.body && !response.bodyUsed ? watched(response.body, () => reset(reply)) : response.body
  return new Response(body, { status, statusText, headers })
}

/**
 * Fastify destroys a response whose stream fails. Over HTTP/1.1 the client misses the last chunk. Over HTTP/2 the response would
 * look complete.
 */
function reset(reply: FastifyReply): void {
  const { stream, headersSent } = reply.raw as unknown as Http2ServerResponse
  if (headersSent) stream.close(constants.NGHTTP2_INTERNAL_ERROR)
}

/** Returns the same stream, and calls `onError` if it fails. */
function watched(body: ReadableStream<Uint8Array>, onError: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      } catch (error) {
        onError()
        controller.error(error)
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
