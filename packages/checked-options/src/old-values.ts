import * as v from 'valibot'
import { renamedValue } from './message.ts'
import type { Schema } from './schema.ts'

type Value = string | number | boolean

/**
 * A kind of option that had other values before. An old value is refused with its new one.
 *
 * @example
 * withOldValues(oneOf('handlers', 'all'), [['api', 'handlers']])
 */
export function withOldValues<TInput, TOutput>(
  kind: Schema<TInput, TOutput>,
  renamed: readonly (readonly [old: Value, current: Value])[],
): Schema<TInput, TOutput> {
  const currentOf: ReadonlyMap<unknown, Value> = new Map(renamed)
  return v.pipe(
    v.custom<TInput>(
      (value) => !currentOf.has(value),
      ({ input }) => renamedValue(input, currentOf.get(input)),
    ),
    kind,
    v.metadata({ ...v.getMetadata(kind) }),
  )
}
