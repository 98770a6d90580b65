// Writes the JSON Schema of aggregator-gateway's configuration file: `node test/docs/gateway-schema.ts`.

import { readFileSync, writeFileSync } from 'node:fs'
import { type JsonSchema, toJsonSchema } from 'checked-options'
import { format } from 'oxfmt'
import { commandSchema, configSchema } from '../../packages/aggregator-gateway/src/config/config-schema.ts'
import * as schemas from '../../packages/aggregator-gateway/src/options/schema.ts'
import { SECTIONS } from './gateway-options.ts'
import { optionsOf } from './options-table.ts'

const root = new URL('../../packages/aggregator-gateway/', import.meta.url)

/** The schema as text, with the sentences of docs/options.md. */
export function gatewaySchema(): string {
  const schema = toJsonSchema(configSchema, annotationOf)
  const head = { $schema: 'http://json-schema.org/draft-07/schema#', title: 'Configuration of aggregator-gateway' }
  return `${JSON.stringify({ ...head, ...schema }, null, 2)}\n`
}

function annotationOf(name: string, object: Parameters<typeof toJsonSchema>[0]): JsonSchema {
  const sections = SECTIONS.filter(({ schema }) => schema === object || hasSameOptions(schema, object)).toReversed()
  const options = sections.flatMap(({ source, interfaces }) => {
    const text = readFileSync(new URL(source, root), 'utf8')
    return interfaces.flatMap((one) => optionsOf(text, one))
  })
  const found = options.find(({ option }) => option === name)
  if (!found) return {}
  const { meaning, standard } = found
  return { description: standard === '' || standard === 'none' ? meaning : `${meaning} Default: ${standard}` }
}

/** The file has the options of the factory, too; each kind of endpoint has those of a route. */
function hasSameOptions(schema: unknown, object: unknown): boolean {
  if (object === configSchema) return schema === commandSchema || schema === schemas.factorySchema
  return schema === schemas.endpointSchema && !SECTIONS.some((section) => section.schema === object)
}

if (import.meta.main) {
  const { code } = await format('gateway.schema.json', gatewaySchema(), { printWidth: 120 })
  writeFileSync(new URL('gateway.schema.json', root), code)
}
