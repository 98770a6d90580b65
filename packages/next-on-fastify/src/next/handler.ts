import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'

/** Answers a request as Next does, to which a third argument is a URL that was parsed. */
export type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/**
 * Answers a request: what stands before Next, or asks it.
 *
 * @param ofFastify - the request as Fastify has it, which is handed on to where code of the app runs
 */
export type Answer = (request: IncomingMessage, response: ServerResponse, ofFastify?: FastifyRequest) => Promise<void>
