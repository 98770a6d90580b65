// Bodies are Next's to read. Fastify picks a parser by the content type, and has no way to have none for one route: so
// the type is taken for another one while Fastify looks, whose parser reads nothing. A context of its own for the route
// would have parsers of its own too, but not the hooks that the app adds later, and those may be what guards the pages.

import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest, preParsingHookHandler } from 'fastify'
import { BodyReadError } from '../errors.ts'

type Headers = FastifyRequest['headers']

/** Adds the parser to the app, and returns the hook that has it used for the requests of a route. */
export function leaveBodiesUnread(app: FastifyInstance): preParsingHookHandler {
  // Nobody can send what nobody knows.
  const unread = `application/vnd.next-on-fastify.${randomUUID()}`
  const hidden = new WeakMap<FastifyRequest, Headers>()
  app.addContentTypeParser(unread, (request, _payload, done) => {
    // Hooks of the app that follow see the true headers.
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

/** Methods for which Fastify looks at a body, of those that it knows without being told. */
const WITH_BODY: ReadonlySet<string> = new Set(['DELETE', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY'])

/** Whether Fastify would call a parser. */
function isParsed({ method, headers }: FastifyRequest): boolean {
  if (!WITH_BODY.has(method)) return false
  // Of QUERY Fastify demands a type.
  if (method === 'QUERY' || headers['content-type'] !== undefined) return true
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** Throws when Next would wait for a body that is gone. */
export function demandUnread({ raw, url }: FastifyRequest): void {
  if (raw.readableDidRead) throw new BodyReadError(`Expected the body of ${raw.method} ${url} to be unread`)
}
