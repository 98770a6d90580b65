import * as v from 'valibot'
import { unexpected } from './message.ts'
import type { Schema } from './schema.ts'

/** The unit of a number. */
export type Unit = 'milliseconds' | 'bytes'

/** A JSON Schema of a kind of options. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The noun phrase of any string, which no option may leave empty. */
export const ANY_STRING = 'a string'

/** What describes a kind beside its noun phrase. */
export interface Description {
  readonly unit?: Unit
  /** Undefined for a kind that JSON cannot express, such as a function. */
  readonly json?: JsonSchema
}

/** A schema of values that pass `test`. `expected` is their noun phrase in errors. */
export function expecting<T>(
  expected: string,
  test: (value: unknown) => boolean,
  { unit, json }: Description = {},
): Schema<T> {
  return v.pipe(v.custom<T>(test, saying(expected)), v.metadata({ expected, unit, json }))
}

/** Makes the message of an issue, as Valibot calls for it. */
export function saying(expected: string): (issue: { input: unknown }) => string {
  return ({ input }) =>
    unexpected(input === '' && expected === ANY_STRING ? `${expected} that is not empty` : expected, input)
}

/** The noun phrase of a schema. */
export function expectedOf(schema: v.GenericSchema): string {
  return (v.getMetadata(schema)['expected'] as string | undefined) ?? schema.expects
}

/** Whether a value is an object, and neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
