// JSON schemas of validators, by Standard JSON Schema: zod from 4.2 on, Valibot, ArkType and others.

import { isObject } from '../runtime/type-guards.ts'

/** A JSON schema. `x-coerce` names a type that JSON lacks; it is removed before the schema is shown. */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly 'x-coerce'?: 'date' | 'bigint' | 'void'
}

/** Validators with a JSON schema, see standardschema.dev/json-schema. */
interface StandardJsonSchema {
  readonly '~standard'?: {
    readonly jsonSchema?: Record<'input' | 'output', (options: object) => Record<string, unknown>>
  }
}

/** Options of zod. Other libraries ignore them. */
const ZOD = {
  unrepresentable: 'any',
  cycles: 'throw',
  override({ zodSchema, jsonSchema }: { zodSchema: unknown; jsonSchema: Record<string, unknown> }) {
    const type = (zodSchema as { _zod?: { def?: { type?: string } } })['_zod']?.def?.type
    if (type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time', 'x-coerce': 'date' })
    if (type === 'void' || type === 'undefined') Object.assign(jsonSchema, { 'x-coerce': 'void' })
    if (type === 'bigint') Object.assign(jsonSchema, { type: 'integer', format: 'int64', 'x-coerce': 'bigint' })
  },
}

/** The JSON schema of a validator, or undefined if it has none. Throws for a circular one. */
export function jsonSchemaOf(validator: unknown, side: 'input' | 'output'): JsonSchema | undefined {
  const standard = (validator as StandardJsonSchema | undefined)?.['~standard']?.jsonSchema
  if (!standard) return undefined
  const { $schema: _, $defs = {}, ...schema } = standard[side]({ target: 'draft-2020-12', libraryOptions: ZOD })
  return inlined(schema, $defs as Definitions, []) as JsonSchema
}

type Definitions = Readonly<Record<string, unknown>>

const DEFINITION = '#/$defs/'

/** A schema with its definitions in place of references: a name may stand for different schemas in two procedures. */
function inlined(schema: unknown, definitions: Definitions, within: readonly string[]): unknown {
  if (Array.isArray(schema)) return schema.map((one) => inlined(one, definitions, within))
  if (!isObject(schema)) return schema
  const { $ref, ...others } = schema as Record<string, unknown>
  if (typeof $ref !== 'string') {
    return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, inlined(value, definitions, within)]))
  }
  const name = $ref.startsWith(DEFINITION) ? $ref.slice(DEFINITION.length) : undefined
  if (name === undefined || !Object.hasOwn(definitions, name) || within.includes(name))
    throw new Error('Cycle detected')
  const definition = inlined(definitions[name], definitions, [...within, name]) as object
  return { ...definition, ...(inlined(others, definitions, within) as object) }
}

/** A schema without what only this package reads. */
export function shown(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(shown)
  if (!isObject(schema)) return schema
  const entries = Object.entries(schema).filter(([key]) => key !== 'x-coerce')
  return Object.fromEntries(entries.map(([key, value]) => [key, shown(value)]))
}
