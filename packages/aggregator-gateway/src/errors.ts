import createError, { type FastifyErrorConstructor } from '@fastify/error'

// Codes are API: never reuse or rename one. The README says what to do about each.

/** An option is missing, unknown or of the wrong kind: where, what was expected, and what came. */
export const InvalidOptionError: FastifyErrorConstructor<{ code: 'GATEWAY_INVALID_OPTION' }, [string]> = createError(
  'GATEWAY_INVALID_OPTION',
  '%s',
  500,
  TypeError,
)

/** A value that a call takes from the client's request is missing, or cannot be part of a path. */
export const BadParameterError: FastifyErrorConstructor<{ code: 'GATEWAY_BAD_PARAMETER' }, [string]> = createError(
  'GATEWAY_BAD_PARAMETER',
  '%s',
  400,
)

/** A function in `headers`, or an observer, has made a header that cannot be sent. */
export const InvalidHeaderError: FastifyErrorConstructor<{ code: 'GATEWAY_INVALID_HEADER' }, [string]> = createError(
  'GATEWAY_INVALID_HEADER',
  '%s',
  500,
)

/** A required call has failed. */
export const UpstreamFailedError: FastifyErrorConstructor<{ code: 'GATEWAY_UPSTREAM_FAILED' }, [string]> = createError(
  'GATEWAY_UPSTREAM_FAILED',
  '%s',
  502,
)

/** A required call got no response in time. */
export const UpstreamTimeoutError: FastifyErrorConstructor<{ code: 'GATEWAY_UPSTREAM_TIMEOUT' }, [string]> =
  createError('GATEWAY_UPSTREAM_TIMEOUT', '%s', 504)

/** A required call failed with a status that the endpoint propagates: the response has that status. */
export const UpstreamStatusError: FastifyErrorConstructor<{ code: 'GATEWAY_UPSTREAM_STATUS' }, [string]> = createError(
  'GATEWAY_UPSTREAM_STATUS',
  '%s',
  502,
)

/**
 * Rejected calls have no stack trace, because it would only point into the gateway. At twice its capacity, a gateway
 * serves 0.7 of it without traces, and less than 0.4 with them. See docs/measurements.md#rejections
 */
const hasTrace = false

/** A required call was not made, because too many calls to that upstream have failed. */
export const CircuitOpenError: FastifyErrorConstructor<{ code: 'GATEWAY_CIRCUIT_OPEN' }, [string]> = createError(
  'GATEWAY_CIRCUIT_OPEN',
  '%s',
  502,
  Error,
  hasTrace,
)

/** The client paused for too long while it sent its body. */
export const ClientTimeoutError: FastifyErrorConstructor<{ code: 'GATEWAY_CLIENT_TIMEOUT' }> = createError(
  'GATEWAY_CLIENT_TIMEOUT',
  'The body did not come in time',
  408,
)

/** An upstream has reached its maximum of running and waiting calls, or of streams. */
export const OverloadedError: FastifyErrorConstructor<{ code: 'GATEWAY_OVERLOADED' }, [string]> = createError(
  'GATEWAY_OVERLOADED',
  '%s',
  503,
  Error,
  hasTrace,
)
