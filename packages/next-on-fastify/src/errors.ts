import createError, { type FastifyErrorConstructor } from '@fastify/error'

// Codes are API: a code is never reused and never renamed. docs/troubleshooting.md has a remedy for each.

/** An option is unknown or invalid. */
export const InvalidOptionError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_INVALID_OPTION' }, [string]> =
  createError('NEXT_ON_FASTIFY_INVALID_OPTION', '%s', 500, TypeError)

/** The folder of the app has no access to a `next` package. */
export const NextMissingError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_NEXT_MISSING' }, [string]> =
  createError('NEXT_ON_FASTIFY_NEXT_MISSING', '%s', 500)

/** The `next` package of the app has an unsupported version. */
export const NextVersionError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_NEXT_VERSION' }, [string]> =
  createError('NEXT_ON_FASTIFY_NEXT_VERSION', '%s', 500)

/** The app has no build, and `dev` is false. */
export const NoBuildError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_NO_BUILD' }, [string]> = createError(
  'NEXT_ON_FASTIFY_NO_BUILD',
  '%s',
  500,
)

/** Next failed to start. The `cause` has its error. */
export const NotPreparedError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_NOT_PREPARED' }, [string]> =
  createError('NEXT_ON_FASTIFY_NOT_PREPARED', '%s', 500)

/** `prefix` is set, and differs from the `basePath` of the build. */
export const BasePathError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_BASE_PATH' }, [string]> = createError(
  'NEXT_ON_FASTIFY_BASE_PATH',
  '%s',
  500,
)

/** The process already has the Next app of another folder, or the app was closed before. */
export const SecondAppError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_SECOND_APP' }, [string]> = createError(
  'NEXT_ON_FASTIFY_SECOND_APP',
  '%s',
  500,
)

/** A hook or a plugin has read the body of a request before Next. */
export const BodyReadError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_BODY_READ' }, [string]> = createError(
  'NEXT_ON_FASTIFY_BODY_READ',
  '%s',
  500,
)

/** The cache of the app cannot be shared. */
export const CacheNotSharedError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_CACHE_NOT_SHARED' }, [string]> =
  createError('NEXT_ON_FASTIFY_CACHE_NOT_SHARED', '%s', 500)

/** Code of the Next app has called `fastifyRequest()` where this package serves no request. */
export const NoRequestError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_NO_REQUEST' }, [string]> = createError(
  'NEXT_ON_FASTIFY_NO_REQUEST',
  '%s',
  500,
)

/** The handler of a route of `app.next()` has returned an invalid path. */
export const InvalidPathError: FastifyErrorConstructor<{ code: 'NEXT_ON_FASTIFY_INVALID_PATH' }, [string]> =
  createError('NEXT_ON_FASTIFY_INVALID_PATH', '%s', 400)

/**
 * Error classes by code.
 *
 * @example
 * if (error instanceof errorCodes.NEXT_ON_FASTIFY_NO_BUILD) process.exit(1)
 */
export const errorCodes: {
  readonly NEXT_ON_FASTIFY_INVALID_OPTION: typeof InvalidOptionError
  readonly NEXT_ON_FASTIFY_NEXT_MISSING: typeof NextMissingError
  readonly NEXT_ON_FASTIFY_NEXT_VERSION: typeof NextVersionError
  readonly NEXT_ON_FASTIFY_NO_BUILD: typeof NoBuildError
  readonly NEXT_ON_FASTIFY_NOT_PREPARED: typeof NotPreparedError
  readonly NEXT_ON_FASTIFY_BASE_PATH: typeof BasePathError
  readonly NEXT_ON_FASTIFY_SECOND_APP: typeof SecondAppError
  readonly NEXT_ON_FASTIFY_BODY_READ: typeof BodyReadError
  readonly NEXT_ON_FASTIFY_CACHE_NOT_SHARED: typeof CacheNotSharedError
  readonly NEXT_ON_FASTIFY_NO_REQUEST: typeof NoRequestError
  readonly NEXT_ON_FASTIFY_INVALID_PATH: typeof InvalidPathError
} = {
  NEXT_ON_FASTIFY_INVALID_OPTION: InvalidOptionError,
  NEXT_ON_FASTIFY_NEXT_MISSING: NextMissingError,
  NEXT_ON_FASTIFY_NEXT_VERSION: NextVersionError,
  NEXT_ON_FASTIFY_NO_BUILD: NoBuildError,
  NEXT_ON_FASTIFY_NOT_PREPARED: NotPreparedError,
  NEXT_ON_FASTIFY_BASE_PATH: BasePathError,
  NEXT_ON_FASTIFY_SECOND_APP: SecondAppError,
  NEXT_ON_FASTIFY_BODY_READ: BodyReadError,
  NEXT_ON_FASTIFY_CACHE_NOT_SHARED: CacheNotSharedError,
  NEXT_ON_FASTIFY_NO_REQUEST: NoRequestError,
  NEXT_ON_FASTIFY_INVALID_PATH: InvalidPathError,
}
