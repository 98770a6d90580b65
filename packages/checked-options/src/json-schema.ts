import * as v from 'valibot'
import type { JsonSchema } from './expectation.ts'

interface Described {
  json?: JsonSchema
  entries?: Readonly<Record<string, v.GenericSchema>>
  kinds?: readonly v.GenericSchema[]
  item?: v.GenericSchema
  value?: v.GenericSchema
}

/** Adds to the JSON Schema of an option: its name, and the schema of the object that has it. */
export type Annotate = (name: string, object: v.GenericSchema) => JsonSchema

/**
 * The JSON Schema of options, for editors. Options that JSON cannot express, such as functions, are left out.
 *
 * @param annotate adds to the schema of each option, for example its description.
 */
export function toJsonSchema(schema: v.GenericSchema, annotate: Annotate = () => ({})): JsonSchema {
  return jsonOf(schema, annotate) ?? {}
}

function jsonOf(schema: v.GenericSchema, annotate: Annotate): JsonSchema | undefined {
  const { json, entries, kinds, item, value } = v.getMetadata(schema) as Described
  if (json) return json
  if (entries) return jsonObject(schema, entries, annotate)
  if (kinds) {
    const all = kinds.map((kind) => jsonOf(kind, annotate)).filter((one) => one !== undefined)
    return all.length > 1 ? { anyOf: all } : all[0]
  }
  if (item) {
    const items = jsonOf(item, annotate)
    return items && { type: 'array', items }
  }
  const values = value && jsonOf(value, annotate)
  return values && { type: 'object', additionalProperties: values }
}

function jsonObject(
  schema: v.GenericSchema,
  entries: Readonly<Record<string, v.GenericSchema>>,
  annotate: Annotate,
): JsonSchema {
  const properties: Record<string, JsonSchema> = {}
  const required: string[] = []
  for (const [name, entry] of Object.entries(entries)) {
    const isOptional = entry.type === 'optional'
    const json = jsonOf(isOptional ? (entry as v.OptionalSchema<v.GenericSchema, unknown>).wrapped : entry, annotate)
    if (!json) continue
    properties[name] = { ...annotate(name, schema), ...json }
    if (!isOptional) required.push(name)
  }
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false }
}
