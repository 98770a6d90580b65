import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'

/** Responds to a request of Node, as Next's own request handler does. */
export type NextHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/**
 * Responds to a request: a step before Next, or Next itself.
 *
 * @param fastifyRequest - Fastify's request, for code of the app
 */
export type RequestHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  fastifyRequest?: FastifyRequest,
) => Promise<void>

/** Prepares a response for compression, as Next's own middleware for it does. */
export type CompressionMiddleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void
