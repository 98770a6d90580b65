import createError, { type FastifyErrorConstructor } from '@fastify/error'

// Codes are API: a code is never reused and never renamed. docs/troubleshooting.md has a remedy for each.

/** An option is missing, unknown, renamed or invalid. */
export const InvalidOptionError: FastifyErrorConstructor<{ code: 'TRPC_FASTIFY_INVALID_OPTION' }, [string]> =
  createError('TRPC_FASTIFY_INVALID_OPTION', '%s', 500, TypeError)

/** `useWSS` is set without `@fastify/websocket`. */
export const WebSocketMissingError: FastifyErrorConstructor<{ code: 'TRPC_FASTIFY_WEBSOCKET_MISSING' }, [string]> =
  createError('TRPC_FASTIFY_WEBSOCKET_MISSING', '%s', 500)

/** A procedure has an invalid `meta.openapi`, or a schema that has no JSON schema. */
export const InvalidOpenApiError: FastifyErrorConstructor<{ code: 'TRPC_FASTIFY_INVALID_OPENAPI' }, [string]> =
  createError('TRPC_FASTIFY_INVALID_OPENAPI', '%s', 500, TypeError)

/**
 * The errors of this package by their codes.
 *
 * @example
 * if (error instanceof errorCodes.TRPC_FASTIFY_INVALID_OPTION) console.error(error.message)
 */
export const errorCodes: {
  readonly TRPC_FASTIFY_INVALID_OPTION: typeof InvalidOptionError
  readonly TRPC_FASTIFY_INVALID_OPENAPI: typeof InvalidOpenApiError
  readonly TRPC_FASTIFY_WEBSOCKET_MISSING: typeof WebSocketMissingError
} = {
  TRPC_FASTIFY_INVALID_OPTION: InvalidOptionError,
  TRPC_FASTIFY_INVALID_OPENAPI: InvalidOpenApiError,
  TRPC_FASTIFY_WEBSOCKET_MISSING: WebSocketMissingError,
}
