// Holds the current Fastify request in an AsyncLocalStorage. It is stored on `globalThis`, because Next bundles its own
// copy of this module.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'

/** A request as Next and as Fastify see it. */
export interface CurrentRequest {
  readonly message: IncomingMessage
  readonly request: FastifyRequest
}

const KEY = Symbol.for('next-on-fastify.current-request')
const globals = globalThis as { [KEY]?: AsyncLocalStorage<CurrentRequest> }
const storage = (globals[KEY] ??= new AsyncLocalStorage())

/** The request that is being served in this async context, if any. */
export function currentRequest(): CurrentRequest | undefined {
  return storage.getStore()
}

/**
 * Makes the Fastify request available to code of the app while Next serves it. For cached responses, too, that would
 * cost 3 % of their CPU. See docs/measurements.md#request-in-app-code
 */
export function withCurrentRequest<Response, Result>(
  serve: (message: IncomingMessage, response: Response) => Result,
): (message: IncomingMessage, response: Response, request?: FastifyRequest) => Result {
  return (message, response, request) =>
    request === undefined ? serve(message, response) : storage.run({ message, request }, serve, message, response)
}
