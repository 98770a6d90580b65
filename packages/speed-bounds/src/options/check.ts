import { checkOptions, invalidOption, object, type Schema } from 'checked-options'
import { errorCodes } from '../errors.ts'

const fail = (message: string): Error => new errorCodes.SPEED_BOUNDS_INVALID_OPTION(message)

/** The options with their defaults, or the error that names the invalid one. */
export function check<TInput, TOutput>(schema: Schema<TInput, TOutput>, options: unknown): TOutput {
  return checkOptions(schema, options, fail)
}

/** The same for an inner option, which errors call `outer.inner`. */
export function checkWithin<TInput, TOutput>(
  outer: string,
  inner: string,
  schema: Schema<TInput, TOutput>,
  options: unknown,
): TOutput {
  const checked = checkOptions(
    object({ [outer]: object({ [inner]: schema }) }),
    { [outer]: { [inner]: options } },
    fail,
  )
  return (checked as Record<string, Record<string, TOutput>>)[outer]![inner]!
}

/** Checks a rule between options. */
export function assertOption(holds: boolean, name: string, expected: string, got: unknown): asserts holds {
  if (!holds) throw fail(invalidOption(name, expected, got))
}
