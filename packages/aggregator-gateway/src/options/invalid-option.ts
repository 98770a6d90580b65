import { invalidOption } from 'checked-options'
import { InvalidOptionError } from '../errors.ts'

/** The error of a rule between options. */
export function invalidOptionError(name: string, expected: string, got: unknown): Error {
  return new InvalidOptionError(invalidOption(name, expected, got))
}
