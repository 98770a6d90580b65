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

interface DescribedSchema {
  readonly description?: string
  readonly properties?: Readonly<Record<string, DescribedSchema>>
  readonly items?: DescribedSchema | false
  readonly $defs?: Readonly<Record<string, DescribedSchema>>
}

/** Places of properties without a description, in a schema and its definitions. */
export function undescribedProperties(schema: DescribedSchema): string[] {
  const bare: string[] = []
  const visit = (part: DescribedSchema, at: string): void => {
    for (const [name, property] of Object.entries(part.properties ?? {})) {
      // A reference has the description of its target.
      if (property.description === undefined && !('$ref' in property)) bare.push(`${at}.${name}`)
      visit(property, `${at}.${name}`)
    }
    if (part.items) visit(part.items, `${at}[]`)
  }
  visit(schema, '')
  for (const [name, part] of Object.entries(schema.$defs ?? {})) visit(part, name)
  return bare
}
