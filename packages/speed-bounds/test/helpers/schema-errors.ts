import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'

/** The errors of a document by a published schema. */
export function schemaErrors(name: 'load' | 'functions' | 'result', document: unknown): string[] {
  const text = readFileSync(new URL(`../../${name}.schema.json`, import.meta.url), 'utf8')
  const validate = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true }).compile(
    JSON.parse(text) as object,
  )
  validate(document)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}
