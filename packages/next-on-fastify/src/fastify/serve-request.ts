import type { FastifyReply, FastifyRequest } from 'fastify'
import { inHttp1 } from '../http/http2.ts'
import { mergeHeaders } from '../http/merge-headers.ts'
import type { RequestHandler } from '../next/handler-types.ts'
import { restoreUrl } from './routable-url.ts'

/** Fastify, this package and Next listen to a response: for a proxied rewrite more than the 10 times that Node expects. */
const MAX_LISTENERS = 30

/** Next writes the body. Bytes beyond the length of a hook would be taken for the next response of the connection. */
const FRAMING = new Set(['content-length', 'transfer-encoding'])

/** Returns the function that serves a Fastify request by Next, and hijacks its reply. */
export function serveBy(
  serve: RequestHandler,
  requestIdHeader: string | undefined,
): (request: FastifyRequest, reply: FastifyReply) => void {
  return (request, reply) => {
    const { raw } = request
    restoreUrl(raw)
    if (requestIdHeader !== undefined) raw.headers[requestIdHeader] = request.id
    const { request: message, response } = inHttp1(raw, reply.raw)
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined && !FRAMING.has(name.toLowerCase())) response.setHeader(name, value)
    }
    if (response.hasHeader('content-length')) response.removeHeader('content-length')
    mergeHeaders(response)
    response.setMaxListeners(MAX_LISTENERS)
    reply.hijack()
    serve(message, response, request).catch((error: unknown) => {
      // Next responds to its own errors. After other errors, `next start` sends nothing or a part of the response.
      request.log.error({ err: error }, 'Next failed')
      if (response.headersSent) {
        response.destroy()
        return
      }
      response.statusCode = 500
      response.end('Internal Server Error')
    })
  }
}
