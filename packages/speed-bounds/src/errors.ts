/**
 * Codes of the errors that this package throws. They are API: a code is never reused and never
 * renamed. The README says of each what it means and what to do.
 */
export type SpeedBoundsErrorCode =
  | 'SPEED_BOUNDS_INVALID_OPTION'
  | 'SPEED_BOUNDS_SUBJECT_NOT_STARTED'
  | 'SPEED_BOUNDS_SUBJECT_NOT_READY'
  | 'SPEED_BOUNDS_PORT_TAKEN'
  | 'SPEED_BOUNDS_SUBJECT_DIED'
  | 'SPEED_BOUNDS_WRONG_ANSWER'
  | 'SPEED_BOUNDS_FAILED_REQUESTS'
  | 'SPEED_BOUNDS_GENERATOR_MISSING'
  | 'SPEED_BOUNDS_GENERATOR_FAILED'
  | 'SPEED_BOUNDS_WARDEN_LOST'

/**
 * An error of this package; `code` tells which.
 *
 * @example
 * try {
 *   await race({ a: './a.ts', b: './b.ts' }, { path: '/' }).measure()
 * } catch (error) {
 *   if (error instanceof SpeedBoundsError && error.code === 'SPEED_BOUNDS_WRONG_ANSWER') process.exitCode = 4
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
