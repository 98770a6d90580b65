import createError, { type FastifyErrorConstructor } from '@fastify/error'

// Codes are API: a code is never reused and never renamed. The README says of each what to do.

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

/** A call that the answer needs has failed. */
export const UpstreamFailedError: FastifyErrorConstructor<{ code: 'GATEWAY_UPSTREAM_FAILED' }, [string]> = createError(
  'GATEWAY_UPSTREAM_FAILED',
  '%s',
  502,
)

/** A call that the answer needs was not answered in time. */
export const UpstreamTimeoutError: FastifyErrorConstructor<{ code: 'GATEWAY_UPSTREAM_TIMEOUT' }, [string]> =
  createError('GATEWAY_UPSTREAM_TIMEOUT', '%s', 504)

/** A call that the answer needs was answered with a status that the endpoint hands on: the answer has that status. */
export const UpstreamStatusError: FastifyErrorConstructor<{ code: 'GATEWAY_UPSTREAM_STATUS' }, [string]> = createError(
  'GATEWAY_UPSTREAM_STATUS',
  '%s',
  502,
)

/**
 * What refuses a call has no stack trace: it would say where the gateway refuses. With twice the requests that its core can
 * answer, of five calls each, a gateway that traced refusals answered 0.2 to 0.4 of what it can, and 0.7 without.
 */
const hasTrace = false

/** A call that the answer needs was not made: too many calls to that upstream have failed. */
export const CircuitOpenError: FastifyErrorConstructor<{ code: 'GATEWAY_CIRCUIT_OPEN' }, [string]> = createError(
  'GATEWAY_CIRCUIT_OPEN',
  '%s',
  502,
  Error,
  hasTrace,
)

/** The client rested for too long while it sent its body. */
export const ClientTimeoutError: FastifyErrorConstructor<{ code: 'GATEWAY_CLIENT_TIMEOUT' }> = createError(
  'GATEWAY_CLIENT_TIMEOUT',
  'The body did not come in time',
  408,
)

/** An upstream has as many calls as it may have, and as many that wait, or as many streams. */
export const OverloadedError: FastifyErrorConstructor<{ code: 'GATEWAY_OVERLOADED' }, [string]> = createError(
  'GATEWAY_OVERLOADED',
  '%s',
  503,
  Error,
  hasTrace,
)
