import * as v from 'valibot'
import { expectedOf, expecting, isRecord, type JsonSchema, saying } from './expectation.ts'
import { unexpected } from './message.ts'
import type { Schema } from './schema.ts'

/** The longest delay that `setTimeout()` takes, in milliseconds. */
const MAX_DELAY = 2 ** 31 - 1

export function boolean(): Schema<boolean> {
  return expecting('a boolean', (value) => typeof value === 'boolean', { json: { type: 'boolean' } })
}

/** An integer between two bounds, both included. */
export function integer(min: number = Number.MIN_SAFE_INTEGER, max: number = Number.MAX_SAFE_INTEGER): Schema<number> {
  const expected = integerIn(min, max)
  return expecting(expected, isIntegerIn(min, max), { json: jsonInteger(min, max) }, sayingSafe(expected))
}

/** A finite number between two bounds, both included. */
export function number(min: number = -Infinity, max: number = Infinity): Schema<number> {
  return expecting(
    `a number${range(min, max)}`,
    (value) => Number.isFinite(value) && (value as number) >= min && (value as number) <= max,
    { json: { type: 'number', ...bounds(min, max) } },
  )
}

/** A number from 0 to 1. */
export function share(): Schema<number> {
  return number(0, 1)
}

/** Whole milliseconds that a timer can wait. */
export function milliseconds(min: number = 1, max: number = MAX_DELAY): Schema<number> {
  return expecting(`milliseconds, ${integerIn(min, max)}`, isIntegerIn(min, max), {
    unit: 'milliseconds',
    json: jsonInteger(min, max),
  })
}

/** A whole number of bytes. */
export function bytes(min: number = 1, max: number = Number.MAX_SAFE_INTEGER): Schema<number> {
  const expected = `bytes, ${integerIn(min, max)}`
  const description = { unit: 'bytes', json: jsonInteger(min, max) } as const
  return expecting(expected, isIntegerIn(min, max), description, sayingSafe(expected))
}

/** A TCP port; 0 stands for any free one. */
export function port(): Schema<number> {
  return integer(0, 65_535)
}

/** A string that is not empty. `noun` names it in the error, such as `a path`. */
export function string(noun: string = 'a string', pattern: RegExp = /[^]/): Schema<string> {
  const json = pattern.source === '[^]' ? { type: 'string', minLength: 1 } : { type: 'string', pattern: pattern.source }
  const isMatch = (value: unknown): boolean => typeof value === 'string' && pattern.test(value)
  // An empty string is a string. Other noun phrases say what is missing.
  const expected = (input: unknown): string =>
    input === '' && noun === 'a string' ? 'a string that is not empty' : noun
  return expecting(noun, isMatch, { json }, ({ input }) => unexpected(expected(input), input))
}

/** One of some values, compared by `===`. */
export function oneOf<const T extends string | number | boolean>(...values: readonly T[]): Schema<T> {
  return expecting(values.map((value) => JSON.stringify(value)).join(' or '), (value) => values.includes(value as T), {
    json: { enum: values },
  })
}

/** A function. Its parameters can't be checked. */
export function func<T extends (...args: never[]) => unknown>(): Schema<T> {
  return expecting('a function', (value) => typeof value === 'function')
}

/** An instance of a class. */
export function instanceOf<T>(type: abstract new (...args: never[]) => T): Schema<T> {
  return expecting(`an instance of ${type.name}`, (value) => value instanceof type)
}

/** Any other kind: its noun phrase for the error, its test, and its JSON Schema if JSON can express it. The value is passed on as it is. */
export function custom<T>(expected: string, test: (value: unknown) => boolean, json?: JsonSchema): Schema<T> {
  return expecting(expected, test, json && { json })
}

/** An array of items of one kind. */
export function list<TInput, TOutput>(item: Schema<TInput, TOutput>): Schema<TInput[], TOutput[]> {
  const expected = `an array, each item ${expectedOf(item)}`
  return v.pipe(v.array(item, saying(expected)), v.metadata({ expected, item }))
}

/** An object of values of one kind, by any names. */
export function record<TInput, TOutput>(
  value: Schema<TInput, TOutput>,
): Schema<Record<string, TInput>, Record<string, TOutput>> {
  const expected = `an object, each value ${expectedOf(value)}`
  return v.pipe(
    v.custom<Record<string, TInput>>(isRecord, saying(expected)),
    v.record(v.string(), value),
    v.metadata({ expected, value }),
  )
}

/** A value of any of some kinds. */
export function anyOf<const T extends readonly v.GenericSchema[]>(
  ...kinds: T
): Schema<v.InferInput<T[number]>, v.InferOutput<T[number]>> {
  const expected = kinds.map((kind) => expectedOf(kind)).join(' or ')
  return v.pipe(v.union(kinds, saying(expected)), v.metadata({ expected, kinds }))
}

function isIntegerIn(min: number, max: number): (value: unknown) => boolean {
  return (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
}

function integerIn(min: number, max: number): string {
  return `an integer${range(min, max)}`
}

/** The message of an integer. Larger ones than JavaScript can count are integers, too. */
function sayingSafe(expected: string): (issue: { input: unknown }) => string {
  return ({ input }) => {
    const isUnsafe = Number.isInteger(input) && !Number.isSafeInteger(input)
    return unexpected(isUnsafe ? expected.replace('an integer', 'a safe integer') : expected, input)
  }
}

function jsonInteger(min: number, max: number): JsonSchema {
  return { type: 'integer', ...bounds(min, max) }
}

/** Bounds that say more than the type does. */
function bounds(min: number, max: number): JsonSchema {
  return {
    ...(min > Number.MIN_SAFE_INTEGER && { minimum: min }),
    ...(max < Number.MAX_SAFE_INTEGER && { maximum: max }),
  }
}

function range(min: number, max: number): string {
  const hasMin = min > Number.MIN_SAFE_INTEGER
  const hasMax = max < Number.MAX_SAFE_INTEGER
  if (hasMin && hasMax) return ` from ${min} to ${max}`
  if (hasMin) return ` of at least ${min}`
  return hasMax ? ` of at most ${max}` : ''
}
