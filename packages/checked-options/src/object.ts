import * as v from 'valibot'
import { expectedOf, isRecord, saying } from './expectation.ts'
import type { Schema } from './schema.ts'
import { missing, renamed as renamedTo, unknown } from './message.ts'

/**
 * The schema of an options interface. Annotate the schema with it, and the compiler checks that the kinds are those of the
 * interface.
 */
export type OptionsSchema<TOptions, TResolved = TOptions> = Schema<TOptions, TResolved>

export interface ObjectOptions {
  /** Old names of options, and their new names or a sentence of advice. @default {} */
  renamed?: Readonly<Record<string, string>>
  /** Pass options with other names on, without a check. @default false */
  others?: boolean
}

type Entries = Record<string, v.GenericSchema>

/** An object with these options, and no others unless `others` is set. */
export function object<const T extends Entries>(
  entries: T,
  { renamed = {}, others = false }: ObjectOptions = {},
): Schema<v.InferInput<v.StrictObjectSchema<T, undefined>>, v.InferOutput<v.StrictObjectSchema<T, undefined>>> {
  const message = (issue: v.StrictObjectIssue | v.LooseObjectIssue): string => {
    const { key, input = {} } = (issue.path?.[0] ?? {}) as { key?: unknown; input?: object }
    const name = key as string
    const entry = Object.hasOwn(entries, name) ? entries[name] : undefined
    if (entry !== undefined) {
      // Names that `others` passes on are no mistakes.
      const given = others ? [] : Object.keys(input).filter((one) => !Object.hasOwn(entries, one))
      return missing(name, expectedOf(entry), given)
    }
    const advice = Object.hasOwn(renamed, name) ? renamed[name] : undefined
    return advice === undefined ? unknown(name, Object.keys(entries)) : renamedTo(advice)
  }
  return v.pipe(
    // Valibot takes an array for an object.
    v.custom<v.InferInput<v.StrictObjectSchema<T, undefined>>>(isRecord, saying('an object')),
    others ? v.looseObject(entries, message) : v.strictObject(entries, message),
    v.metadata({ expected: 'an object', entries }),
  )
}

/** An option that may be left out or `undefined`. Its default stands in for it. */
export function optional<TInput, TOutput, const TDefault extends TInput | undefined = undefined>(
  kind: Schema<TInput, TOutput>,
  standard?: TDefault,
): v.ExactOptionalSchema<Schema<TInput, TOutput>, TDefault> {
  // By its type, the key may be missing. At run time it may also be there with `undefined`.
  return v.optional(kind, standard as TInput) as unknown as v.ExactOptionalSchema<Schema<TInput, TOutput>, TDefault>
}
