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

/** The app has not been built, and `dev` is false. */
export const NoBuildError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_NO_BUILD' }, [string]> = createError(
  'NEXT_ON_FASTIFY_NO_BUILD',
  '%s',
  500,
)

/** Next does not start: its own error is the `cause`. */
export const NotPreparedError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_NOT_PREPARED' }, [string]> =
  createError('NEXT_ON_FASTIFY_NOT_PREPARED', '%s', 500)

/** `prefix` is not the `basePath` that the app was built with. */
export const BasePathError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_BASE_PATH' }, [string]> = createError(
  'NEXT_ON_FASTIFY_BASE_PATH',
  '%s',
  500,
)

/** A process was to serve a second Next app, or one that was closed. */
export const SecondAppError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_SECOND_APP' }, [string]> = createError(
  'NEXT_ON_FASTIFY_SECOND_APP',
  '%s',
  500,
)

/** A hook or a plugin has read the body of a request that Next was to read. */
export const BodyReadError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_BODY_READ' }, [string]> = createError(
  'NEXT_ON_FASTIFY_BODY_READ',
  '%s',
  500,
)

/** The cache of an app cannot be shared: what stands against it. */
export const CacheNotSharedError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_CACHE_NOT_SHARED' }, [string]> =
  createError('NEXT_ON_FASTIFY_CACHE_NOT_SHARED', '%s', 500)

/** Code of the Next app has asked for the request of Fastify where there is none. */
export const NoRequestError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_NO_REQUEST' }, [string]> = createError(
  'NEXT_ON_FASTIFY_NO_REQUEST',
  '%s',
  500,
)
