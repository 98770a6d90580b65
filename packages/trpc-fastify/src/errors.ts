import createError, { type FastifyErrorConstructor } from '@fastify/error'

// Codes are API: a code is never reused and never renamed. The README says of each what to do.

/** An option is missing, unknown or of the wrong kind: what was expected, and what came. */
export const InvalidOptionError: FastifyErrorConstructor<{ code: 'TRPC_FASTIFY_INVALID_OPTION' }, [string]> =
  createError('TRPC_FASTIFY_INVALID_OPTION', '%s', 500, TypeError)

/** `useWSS` was asked for, but `@fastify/websocket` is not there. */
export const WebSocketMissingError: FastifyErrorConstructor<{ code: 'TRPC_FASTIFY_WEBSOCKET_MISSING' }, [string]> =
  createError('TRPC_FASTIFY_WEBSOCKET_MISSING', '%s', 500)
