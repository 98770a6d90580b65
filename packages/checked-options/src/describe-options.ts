import * as v from 'valibot'
import { expectedOf, type Unit } from './expectation.ts'

/** An option of a schema, for a reference, a command's flags or a test of both. */
export interface OptionDescription {
  /** Its name, with those of the objects that it is in: `recycle.requests`. */
  readonly name: string
  /** The noun phrase of its values, such as `an integer from 1 to 1024`. */
  readonly expected: string
  readonly unit: Unit | undefined
  readonly required: boolean
  /** Undefined where there is none. */
  readonly default: unknown
}

interface Described {
  entries?: Readonly<Record<string, v.GenericSchema>>
  kinds?: readonly v.GenericSchema[]
  unit?: Unit
}

/** All options of a schema in their order, those of inner objects after the option that holds them. */
export function optionsOf(schema: v.GenericSchema): OptionDescription[] {
  return inside(schema, '')
}

function inside(schema: v.GenericSchema, prefix: string): OptionDescription[] {
  const { entries = {}, kinds = [] } = v.getMetadata(schema) as Described
  const own = Object.entries(entries).flatMap(([key, entry]) => {
    const kind = kindOf(entry)
    const option: OptionDescription = {
      name: prefix + key,
      expected: expectedOf(kind),
      unit: unitOf(kind),
      required: kind === entry,
      default: kind === entry ? undefined : v.getDefault(entry),
    }
    return [option, ...inside(kind, `${prefix}${key}.`)]
  })
  return [...own, ...kinds.flatMap((kind) => inside(kind, prefix))]
}

/** The schema of an option's value. */
function kindOf(entry: v.GenericSchema): v.GenericSchema {
  return entry.type === 'optional' ? (entry as v.OptionalSchema<v.GenericSchema, unknown>).wrapped : entry
}

function unitOf(kind: v.GenericSchema): Unit | undefined {
  const { unit, kinds = [] } = v.getMetadata(kind) as Described
  return unit ?? kinds.map((one) => unitOf(one)).find((one) => one !== undefined)
}
