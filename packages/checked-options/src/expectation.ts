import * as v from 'valibot'
import { unexpected } from './message.ts'
import type { Schema } from './schema.ts'

/** The unit of a number. */
export type Unit = 'milliseconds' | 'bytes'

/** A JSON Schema of a kind of options. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** What describes a kind beside its noun phrase. */
export interface Description {
  readonly unit?: Unit
  /** Undefined for a kind that JSON cannot express, such as a function. */
  readonly json?: JsonSchema
}

/** Makes the message of an issue, as Valibot calls for it. */
type Message = (issue: { input: unknown }) => string

/** A schema of values that pass `test`. `expected` is their noun phrase in errors, unless `message` has another. */
export function expecting<T>(
  expected: string,
  test: (value: unknown) => boolean,
  { unit, json }: Description = {},
  message: Message = saying(expected),
): Schema<T> {
  return v.pipe(v.custom<T>(test, message), v.metadata({ expected, unit, json }))
}

/** The message that a value is not what was expected. */
export function saying(expected: string): Message {
  return ({ input }) => unexpected(expected, input)
}

/** The noun phrase of a schema. */
export function expectedOf(schema: v.GenericSchema): string {
  return (v.getMetadata(schema)['expected'] as string | undefined) ?? schema.expects
}

/** Whether a value is an object, and neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
