import createError, { type FastifyErrorConstructor } from '@fastify/error'

// Codes are API: never reuse or rename one. docs/troubleshooting.md has a remedy for each.

/** An option is missing, unknown or of the wrong kind. */
export const InvalidOptionError: FastifyErrorConstructor<{ code: 'AGGREGATOR_GATEWAY_INVALID_OPTION' }, [string]> =
  createError('AGGREGATOR_GATEWAY_INVALID_OPTION', '%s', 500, TypeError)

/** A configuration file is missing or invalid. */
export const InvalidConfigError: FastifyErrorConstructor<{ code: 'AGGREGATOR_GATEWAY_INVALID_CONFIG' }, [string]> =
  createError('AGGREGATOR_GATEWAY_INVALID_CONFIG', '%s', 500, TypeError)

/** A value of the client's request is missing, or cannot be part of a path or header. */
export const BadParameterError: FastifyErrorConstructor<{ code: 'AGGREGATOR_GATEWAY_BAD_PARAMETER' }, [string]> =
  createError('AGGREGATOR_GATEWAY_BAD_PARAMETER', '%s', 400)

/** The client has no credentials, or invalid ones. */
export const UnauthenticatedError: FastifyErrorConstructor<{ code: 'AGGREGATOR_GATEWAY_UNAUTHENTICATED' }, [string]> =
  createError('AGGREGATOR_GATEWAY_UNAUTHENTICATED', '%s', 401)

/** The authenticator failed. */
export const AuthenticationFailedError: FastifyErrorConstructor<
  { code: 'AGGREGATOR_GATEWAY_AUTHENTICATION_FAILED' },
  [unknown?]
> = createError('AGGREGATOR_GATEWAY_AUTHENTICATION_FAILED', 'The client could not be verified', 500)

/**
 * Failed calls have no stack trace, because it would only point into the gateway. At twice its capacity, a gateway
 * serves 0.7 of it without traces, and less than 0.4 with them. See docs/measurements.md#rejections
 */
const hasTrace = false

/** The public keys of tokens can't be fetched. */
export const KeysUnavailableError: FastifyErrorConstructor<{ code: 'AGGREGATOR_GATEWAY_KEYS_UNAVAILABLE' }, [string]> =
  createError('AGGREGATOR_GATEWAY_KEYS_UNAVAILABLE', '%s', 503, Error, hasTrace)

/** A function in `headers`, or an observer, returned a header that cannot be sent. */
export const InvalidHeaderError: FastifyErrorConstructor<{ code: 'AGGREGATOR_GATEWAY_INVALID_HEADER' }, [string]> =
  createError('AGGREGATOR_GATEWAY_INVALID_HEADER', '%s', 500)

/** A required call failed. */
export const UpstreamFailedError: FastifyErrorConstructor<{ code: 'AGGREGATOR_GATEWAY_UPSTREAM_FAILED' }, [string]> =
  createError('AGGREGATOR_GATEWAY_UPSTREAM_FAILED', '%s', 502, Error, hasTrace)

/** A required call got no response in time. */
export const UpstreamTimeoutError: FastifyErrorConstructor<{ code: 'AGGREGATOR_GATEWAY_UPSTREAM_TIMEOUT' }, [string]> =
  createError('AGGREGATOR_GATEWAY_UPSTREAM_TIMEOUT', '%s', 504, Error, hasTrace)

/** A required call failed with a status of `forwardStatuses`: the response has that status. */
export const UpstreamStatusError: FastifyErrorConstructor<{ code: 'AGGREGATOR_GATEWAY_UPSTREAM_STATUS' }, [string]> =
  createError('AGGREGATOR_GATEWAY_UPSTREAM_STATUS', '%s', 502, Error, hasTrace)

/** A required call was not made, because too many calls to that upstream have failed. */
export const CircuitOpenError: FastifyErrorConstructor<{ code: 'AGGREGATOR_GATEWAY_CIRCUIT_OPEN' }, [string]> =
  createError('AGGREGATOR_GATEWAY_CIRCUIT_OPEN', '%s', 502, Error, hasTrace)

/** The client paused for too long while it sent its body. */
export const ClientTimeoutError: FastifyErrorConstructor<{ code: 'AGGREGATOR_GATEWAY_CLIENT_TIMEOUT' }, [number]> =
  createError('AGGREGATOR_GATEWAY_CLIENT_TIMEOUT', 'Request body timeout: no data received for %s ms', 408)

/** An upstream has reached its maximum of running and waiting calls, or of streams. */
export const OverloadedError: FastifyErrorConstructor<{ code: 'AGGREGATOR_GATEWAY_OVERLOADED' }, [string]> =
  createError('AGGREGATOR_GATEWAY_OVERLOADED', '%s', 503, Error, hasTrace)

/** The fault of an upstream behind a failed call. Its stack has no frames, for the same reason. */
export class UpstreamFault extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.stack = `Error: ${message}`
  }
}

/** All errors of the gateway by their codes, so that `error instanceof errorCodes.AGGREGATOR_GATEWAY_OVERLOADED` works. */
export const errorCodes: Readonly<{
  AGGREGATOR_GATEWAY_INVALID_OPTION: typeof InvalidOptionError
  AGGREGATOR_GATEWAY_INVALID_CONFIG: typeof InvalidConfigError
  AGGREGATOR_GATEWAY_BAD_PARAMETER: typeof BadParameterError
  AGGREGATOR_GATEWAY_UNAUTHENTICATED: typeof UnauthenticatedError
  AGGREGATOR_GATEWAY_AUTHENTICATION_FAILED: typeof AuthenticationFailedError
  AGGREGATOR_GATEWAY_KEYS_UNAVAILABLE: typeof KeysUnavailableError
  AGGREGATOR_GATEWAY_INVALID_HEADER: typeof InvalidHeaderError
  AGGREGATOR_GATEWAY_UPSTREAM_FAILED: typeof UpstreamFailedError
  AGGREGATOR_GATEWAY_UPSTREAM_TIMEOUT: typeof UpstreamTimeoutError
  AGGREGATOR_GATEWAY_UPSTREAM_STATUS: typeof UpstreamStatusError
  AGGREGATOR_GATEWAY_CIRCUIT_OPEN: typeof CircuitOpenError
  AGGREGATOR_GATEWAY_CLIENT_TIMEOUT: typeof ClientTimeoutError
  AGGREGATOR_GATEWAY_OVERLOADED: typeof OverloadedError
}> = {
  AGGREGATOR_GATEWAY_INVALID_OPTION: InvalidOptionError,
  AGGREGATOR_GATEWAY_INVALID_CONFIG: InvalidConfigError,
  AGGREGATOR_GATEWAY_BAD_PARAMETER: BadParameterError,
  AGGREGATOR_GATEWAY_UNAUTHENTICATED: UnauthenticatedError,
  AGGREGATOR_GATEWAY_AUTHENTICATION_FAILED: AuthenticationFailedError,
  AGGREGATOR_GATEWAY_KEYS_UNAVAILABLE: KeysUnavailableError,
  AGGREGATOR_GATEWAY_INVALID_HEADER: InvalidHeaderError,
  AGGREGATOR_GATEWAY_UPSTREAM_FAILED: UpstreamFailedError,
  AGGREGATOR_GATEWAY_UPSTREAM_TIMEOUT: UpstreamTimeoutError,
  AGGREGATOR_GATEWAY_UPSTREAM_STATUS: UpstreamStatusError,
  AGGREGATOR_GATEWAY_CIRCUIT_OPEN: CircuitOpenError,
  AGGREGATOR_GATEWAY_CLIENT_TIMEOUT: ClientTimeoutError,
  AGGREGATOR_GATEWAY_OVERLOADED: OverloadedError,
}
