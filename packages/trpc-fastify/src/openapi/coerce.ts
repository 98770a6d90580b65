// Converts texts of paths and queries, and dates and bigints of bodies, into the types of the input. A text that is no
// value of the type stays, so that the validator rejects it. The schema of the user is not changed.

import { isObject } from '../runtime/type-guards.ts'
import type { JsonSchema } from './json-schema.ts'

type Coerce = (value: unknown) => unknown

const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i
const INTEGER = /^-?\d+$/
const BOOLEANS = new Map<unknown, boolean>([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

const toDate: Coerce = (value) => {
  const date = typeof value === 'string' ? new Date(value) : undefined
  return date && !Number.isNaN(date.getTime()) ? date : value
}
const toBigint: Coerce = (value) => {
  const isInteger = typeof value === 'string' ? INTEGER.test(value) && value.length < 400 : Number.isSafeInteger(value)
  return isInteger ? BigInt(value as string | number) : value
}
const toNumber: Coerce = (value) => (typeof value === 'string' && NUMBER.test(value) ? Number(value) : value)
const toBoolean: Coerce = (value) => BOOLEANS.get(value) ?? value

/** Returns a function that converts a value, or undefined if nothing needs it. `isText` is for values of paths and queries. */
export function coercion(schema: JsonSchema, isText: boolean): Coerce | undefined {
  if (schema['x-coerce'] === 'date') return toDate
  if (schema['x-coerce'] === 'bigint') return toBigint
  if (schema.anyOf) {
    const [only, ...others] = schema.anyOf.filter(({ type }) => type !== 'null')
    return only && others.length === 0 ? coercion(only, isText) : undefined
  }
  // A number that may be null has two types in one schema.
  const [type, ...others] = [schema.type ?? []].flat().filter((one) => one !== 'null')
  if (others.length > 0) return undefined
  switch (type) {
    case 'number':
    case 'integer':
      return isText ? toNumber : undefined
    case 'boolean':
      return isText ? toBoolean : undefined
    case 'array':
      return ofItems(schema, isText)
    case 'object':
      return ofProperties(schema, isText)
    default:
      return undefined
  }
}

function ofItems({ items = {} }: JsonSchema, isText: boolean): Coerce | undefined {
  const coerce = coercion(items, isText)
  if (!isText && !coerce) return undefined
  return (value) => {
    const values = isText && !Array.isArray(value) ? [value] : value
    return coerce && Array.isArray(values) ? values.map(coerce) : values
  }
}

function ofProperties({ properties = {} }: JsonSchema, isText: boolean): Coerce | undefined {
  const coerced = Object.entries(properties).flatMap(([name, schema]) => {
    const coerce = coercion(schema, isText)
    return coerce ? [[name, coerce] as const] : []
  })
  if (coerced.length === 0) return undefined
  return (value) => {
    if (!isObject(value)) return value
    const object: Record<string, unknown> = { ...value }
    for (const [name, coerce] of coerced) {
      if (Object.hasOwn(object, name) && object[name] !== undefined) object[name] = coerce(object[name])
    }
    return object
  }
}
