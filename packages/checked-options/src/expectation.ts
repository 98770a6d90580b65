import * as v from 'valibot'
import { unexpected } from './message.ts'
import type { Schema } from './schema.ts'

/** The unit of a number. */
export type Unit = 'milliseconds' | 'bytes'

/** A schema of values that pass `test`. `expected` is their noun phrase in errors. */
export function expecting<T>(expected: string, test: (value: unknown) => boolean, unit?: Unit): Schema<T> {
  return v.pipe(v.custom<T>(test, saying(expected)), v.metadata({ expected, unit }))
}

/** Makes the message of an issue, as Valibot calls for it. */
export function saying(expected: string): (issue: { input: unknown }) => string {
  return ({ input }) => unexpected(expected, input)
}

/** The noun phrase of a schema. */
export function expectedOf(schema: v.GenericSchema): string {
  return (v.getMetadata(schema)['expected'] as string | undefined) ?? schema.expects
}

export function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
