// Leaves bodies unread for Next. Fastify selects a parser by content type, and cannot disable parsing for one route. So the
// content type is replaced meanwhile by one whose parser reads nothing. An encapsulated context could have its own parsers,
// but would miss hooks that the app adds later, such as authentication.

import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest, preParsingHookHandler } from 'fastify'
import { BodyReadError } from '../errors.ts'

type Headers = FastifyRequest['headers']

/** Adds the parser to the app, and returns the hook that selects it for the requests of a route. */
export function skipBodyParsing(app: FastifyInstance): preParsingHookHandler {
  // Random, so that clients cannot send it.
  const unread = `application/vnd.next-on-fastify.${randomUUID()}`
  const hidden = new WeakMap<FastifyRequest, Headers>()
  app.addContentTypeParser(unread, (request, _payload, done) => {
    // Later hooks of the app see the real headers.
    request.headers = hidden.get(request)!
    done(null)
  })
  return (request: FastifyRequest, _reply: FastifyReply, payload, done) => {
    if (isParsed(request)) {
      hidden.set(request, request.headers)
      request.headers = { ...request.headers, 'content-type': unread }
    }
    done(null, payload)
  }
}

/** Methods with bodies that Fastify knows by default. */
const WITH_BODY: ReadonlySet<string> = new Set(['DELETE', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY'])

/** Whether Fastify would call a parser. */
function isParsed({ method, headers }: FastifyRequest): boolean {
  if (!WITH_BODY.has(method)) return false
  // Fastify requires a content type for QUERY.
  if (method === 'QUERY' || headers['content-type'] !== undefined) return true
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** Throws if Next would wait for a body that was already read. */
export function assertBodyUnread({ raw, url }: FastifyRequest): void {
  if (raw.readableDidRead)
    throw new BodyReadError(
      `The body of ${raw.method} ${url} was read before Next: read bodies only in your own routes.`,
    )
}
