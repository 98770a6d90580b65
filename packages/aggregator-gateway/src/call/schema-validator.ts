// Validates responses of upstreams by JSON Schema. Ajv is the validator that Fastify brings. Unlike Fastify's own, this one
// changes no value: it converts no types, sets no defaults and removes no members.

import type { ValidateFunction } from 'ajv'
import { invalidOptionError } from '../options/invalid-option.ts'

type Schema = Readonly<Record<string, unknown>>

/** Says why a value does not match a schema; undefined if it does. */
export type Validate = (value: unknown) => string | undefined

/** Compiles a schema. `where` names it in errors. */
export type CompileSchema = (schema: Schema, where: string) => Validate

/** Keywords of OpenAPI that validate nothing. */
const ANNOTATIONS = ['example', 'externalDocs', 'xml', 'discriminator']

/** Loads the validator. Schemas can refer to `shared` ones by their `$id`. */
export async function loadValidator(shared: Readonly<Record<string, unknown>>): Promise<CompileSchema> {
  const [{ Ajv }, formats] = await Promise.all([import('ajv'), import('ajv-formats')])
  const ajv = new Ajv({ strictTypes: false, strictTuples: false })
  formats.default.default(ajv)
  ajv.addVocabulary(ANNOTATIONS)
  for (const schema of Object.values(shared)) ajv.addSchema(schema as Schema)
  return (schema, where) => {
    let validate: ValidateFunction
    try {
      validate = ajv.compile(schema)
    } catch (cause) {
      const problem = (cause as Error).message.replaceAll(/\s+/g, ' ')
      throw invalidOptionError(where, `a JSON Schema that can be compiled for validate (${problem})`, schema)
    }
    return (value) => {
      if (validate(value)) return undefined
      const { instancePath, message } = validate.errors![0]!
      return `${instancePath === '' ? 'the response' : instancePath} ${message!}`
    }
  }
}
