// The input of a procedure with a route, and the schema of its route, from which @fastify/swagger makes a document.

import type { AnyTRPCProcedure } from '@trpc/server'
import type { FastifySchema } from 'fastify'
import { inputsOf, outputOf } from '../procedure/trpc-internals.ts'
import { type JsonSchema, jsonSchemaOf, shown } from './json-schema.ts'
import { invalid, type RestProcedure } from './meta.ts'

/** Whether requests of a method have a body. */
export const hasBody = (method: string): boolean => method !== 'GET' && method !== 'DELETE'

/**
 * The JSON schema of a procedure's input, or undefined if it has none.
 *
 * @throws TRPC_FASTIFY_INVALID_OPENAPI
 */
export function inputSchemaOf({ path, params }: RestProcedure, procedure: AnyTRPCProcedure): JsonSchema | undefined {
  const parts = inputsOf(procedure)
    .map((input) => schemaOf(path, input, 'input'))
    .filter((schema) => schema?.['x-coerce'] !== 'void')
  for (const schema of parts) {
    if (schema?.type !== 'object') {
      throw invalid(path, '', 'an input whose JSON schema is an object, such as z.object() of zod 4.2 or newer')
    }
  }
  const properties: Record<string, JsonSchema> = Object.assign({}, ...parts.map((schema) => schema!.properties))
  for (const name of params) {
    if (!Object.hasOwn(properties, name)) throw invalid(path, 'path', `parameters of the input, got {${name}}`)
  }
  if (parts.length === 0) return undefined
  const required = parts.flatMap((schema) => schema!.required ?? [])
  return { ...parts[0], properties, required }
}

/** The schema of a route. It documents the route; the procedure validates the input. */
export function routeSchemaOf(
  { path, openapi, operationId, params, contentTypes }: RestProcedure,
  procedure: AnyTRPCProcedure,
  input: JsonSchema | undefined,
): FastifySchema {
  const { method, summary, description, tags, deprecated, protect } = openapi
  const own = params.length > 0 ? { params: part(input!, (name) => params.includes(name), params) } : {}
  const others = input && part(input, (name) => !params.includes(name), input.required ?? [])
  const texts =
    others === undefined ? {} : hasBody(method) ? { body: others, consumes: contentTypes } : { querystring: others }
  const named = { operationId, summary, description, tags, deprecated, ...(protect === false ? { security: [] } : {}) }
  return {
    ...Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)),
    ...own,
    ...texts,
    response: responsesOf(openapi, schemaOf(path, outputOf(procedure), 'output')),
  }
}

function part(
  { properties = {}, ...rest }: JsonSchema,
  isIn: (name: string) => boolean,
  required: readonly string[],
): unknown {
  const names = Object.keys(properties).filter(isIn)
  const all = Object.fromEntries(names.map((name) => [name, properties[name]!]))
  return shown({ ...rest, properties: all, required: required.filter(isIn) })
}

/** The body of Fastify's error responses. */
const ERROR = {
  type: 'object',
  properties: {
    statusCode: { type: 'integer' },
    code: { type: 'string' },
    error: { type: 'string' },
    message: { type: 'string' },
  },
  required: ['statusCode', 'error', 'message'],
} as const

function responsesOf(
  { successDescription = 'Successful response', errorResponses = [] }: RestProcedure['openapi'],
  output: JsonSchema | undefined,
): Record<string, unknown> {
  const errors: [string, string][] = Array.isArray(errorResponses)
    ? errorResponses.map((status) => [String(status), 'Error'])
    : Object.entries(errorResponses)
  // For @fastify/swagger, the type null is a response without a body.
  const result = output?.['x-coerce'] === 'void' ? { type: 'null' } : (shown(output ?? {}) as object)
  return {
    200: { ...result, description: successDescription },
    ...Object.fromEntries(errors.map(([status, description]) => [status, { ...ERROR, description }])),
  }
}

function schemaOf(path: string, validator: unknown, side: 'input' | 'output'): JsonSchema | undefined {
  try {
    return jsonSchemaOf(validator, side)
  } catch (cause) {
    const [reason] = (cause instanceof Error ? cause.message : String(cause)).split('\n')
    throw Object.assign(invalid(path, '', `an ${side} without circular or invalid schemas, got "${reason}"`), { cause })
  }
}
