import createError, { type FastifyErrorConstructor } from '@fastify/error'

// Codes are API: a code is never reused and never renamed. The README says of each what to do.

/** An option is unknown or of the wrong kind: what was expected, and what came. */
export const InvalidOptionError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_INVALID_OPTION' }, [string]> =
  createError('NEXT_ON_FASTIFY_INVALID_OPTION', '%s', 500, TypeError)

/** The folder of the app does not see a `next` package. */
export const NextMissingError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_NEXT_MISSING' }, [string]> =
  createError('NEXT_ON_FASTIFY_NEXT_MISSING', '%s', 500)

/** The `next` package of the app is of a version that is not supported. */
export const NextVersionError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_NEXT_VERSION' }, [string]> =
  createError('NEXT_ON_FASTIFY_NEXT_VERSION', '%s', 500)
