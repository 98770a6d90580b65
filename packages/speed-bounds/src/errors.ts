/** Codes of all errors of this package. A code is API: it is never reused and never renamed. */
export type SpeedBoundsErrorCode =
  | 'SPEED_BOUNDS_INVALID_OPTION'
  | 'SPEED_BOUNDS_SUBJECT_NOT_STARTED'
  | 'SPEED_BOUNDS_SUBJECT_NOT_READY'
  | 'SPEED_BOUNDS_PORT_TAKEN'
  | 'SPEED_BOUNDS_SUBJECT_DIED'
  | 'SPEED_BOUNDS_WRONG_RESPONSE'
  | 'SPEED_BOUNDS_FAILED_REQUESTS'
  | 'SPEED_BOUNDS_GENERATOR_MISSING'
  | 'SPEED_BOUNDS_GENERATOR_FAILED'
  | 'SPEED_BOUNDS_SUPERVISOR_LOST'
  | 'SPEED_BOUNDS_CONFIG_NOT_LOADED'
  | 'SPEED_BOUNDS_INVALID_RESULT'
  | 'SPEED_BOUNDS_NO_REPOSITORY'
  | 'SPEED_BOUNDS_UNKNOWN_REF'
  | 'SPEED_BOUNDS_CHECKOUT_FAILED'
  | 'SPEED_BOUNDS_INSTALL_FAILED'
  | 'SPEED_BOUNDS_BUILD_FAILED'
  | 'SPEED_BOUNDS_SUBJECT_MISSING'
  | 'SPEED_BOUNDS_PROFILE_FAILED'
  | 'SPEED_BOUNDS_NODE_NOT_INSTALLED'
  | 'SPEED_BOUNDS_NO_BENCHMARKS'
  | 'SPEED_BOUNDS_OUTER_VARIABLE'
  | 'SPEED_BOUNDS_FUNCTION_FAILED'

/**
 * An error of this package. Its `code` says which one.
 *
 * @example
 * try {
 *   await race({ a: './a.ts', b: './b.ts' }, { path: '/' }).measure()
 * } catch (error) {
 *   if (error instanceof errorCodes.SPEED_BOUNDS_WRONG_RESPONSE) process.exitCode = 4
 * }
 */
export class SpeedBoundsError extends Error {
  override readonly name = 'SpeedBoundsError'
  readonly code: SpeedBoundsErrorCode

  constructor(code: SpeedBoundsErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The class of the errors with one code. */
export type SpeedBoundsErrorClass = new (message: string, options?: ErrorOptions) => SpeedBoundsError

function withCode(code: SpeedBoundsErrorCode): SpeedBoundsErrorClass {
  return class extends SpeedBoundsError {
    constructor(message: string, options?: ErrorOptions) {
      super(code, message, options)
    }
  }
}

/**
 * Error classes by their code, for `instanceof`.
 *
 * @example
 * error instanceof errorCodes.SPEED_BOUNDS_INVALID_OPTION
 */
export const errorCodes: Readonly<Record<SpeedBoundsErrorCode, SpeedBoundsErrorClass>> = {
  SPEED_BOUNDS_INVALID_OPTION: withCode('SPEED_BOUNDS_INVALID_OPTION'),
  SPEED_BOUNDS_SUBJECT_NOT_STARTED: withCode('SPEED_BOUNDS_SUBJECT_NOT_STARTED'),
  SPEED_BOUNDS_SUBJECT_NOT_READY: withCode('SPEED_BOUNDS_SUBJECT_NOT_READY'),
  SPEED_BOUNDS_PORT_TAKEN: withCode('SPEED_BOUNDS_PORT_TAKEN'),
  SPEED_BOUNDS_SUBJECT_DIED: withCode('SPEED_BOUNDS_SUBJECT_DIED'),
  SPEED_BOUNDS_WRONG_RESPONSE: withCode('SPEED_BOUNDS_WRONG_RESPONSE'),
  SPEED_BOUNDS_FAILED_REQUESTS: withCode('SPEED_BOUNDS_FAILED_REQUESTS'),
  SPEED_BOUNDS_GENERATOR_MISSING: withCode('SPEED_BOUNDS_GENERATOR_MISSING'),
  SPEED_BOUNDS_GENERATOR_FAILED: withCode('SPEED_BOUNDS_GENERATOR_FAILED'),
  SPEED_BOUNDS_SUPERVISOR_LOST: withCode('SPEED_BOUNDS_SUPERVISOR_LOST'),
  SPEED_BOUNDS_CONFIG_NOT_LOADED: withCode('SPEED_BOUNDS_CONFIG_NOT_LOADED'),
  SPEED_BOUNDS_INVALID_RESULT: withCode('SPEED_BOUNDS_INVALID_RESULT'),
  SPEED_BOUNDS_NO_REPOSITORY: withCode('SPEED_BOUNDS_NO_REPOSITORY'),
  SPEED_BOUNDS_UNKNOWN_REF: withCode('SPEED_BOUNDS_UNKNOWN_REF'),
  SPEED_BOUNDS_CHECKOUT_FAILED: withCode('SPEED_BOUNDS_CHECKOUT_FAILED'),
  SPEED_BOUNDS_INSTALL_FAILED: withCode('SPEED_BOUNDS_INSTALL_FAILED'),
  SPEED_BOUNDS_BUILD_FAILED: withCode('SPEED_BOUNDS_BUILD_FAILED'),
  SPEED_BOUNDS_SUBJECT_MISSING: withCode('SPEED_BOUNDS_SUBJECT_MISSING'),
  SPEED_BOUNDS_PROFILE_FAILED: withCode('SPEED_BOUNDS_PROFILE_FAILED'),
  SPEED_BOUNDS_NODE_NOT_INSTALLED: withCode('SPEED_BOUNDS_NODE_NOT_INSTALLED'),
  SPEED_BOUNDS_NO_BENCHMARKS: withCode('SPEED_BOUNDS_NO_BENCHMARKS'),
  SPEED_BOUNDS_OUTER_VARIABLE: withCode('SPEED_BOUNDS_OUTER_VARIABLE'),
  SPEED_BOUNDS_FUNCTION_FAILED: withCode('SPEED_BOUNDS_FUNCTION_FAILED'),
}
