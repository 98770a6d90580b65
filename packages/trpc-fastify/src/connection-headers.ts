// HTTP/2 has no headers about the connection (RFC 9113, 8.2.2): Node ends the stream of a response that has one. tRPC sets
// `transfer-encoding` for streamed batches and `connection` for subscriptions, and hooks written for HTTP/1.1 may set others.

import type { FastifyReply } from 'fastify'

const CONNECTION_HEADERS = [
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]

/** Removes the headers that HTTP/2 forbids: from a reply, and from the `Response` that will add its own. */
export function removeConnectionHeaders(reply: FastifyReply, payload: unknown): void {
  for (const name of CONNECTION_HEADERS) {
    reply.removeHeader(name)
    if (payload instanceof Response && payload.headers.has(name)) payload.headers.delete(name)
  }
}
