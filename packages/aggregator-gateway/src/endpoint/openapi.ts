// The responses of an endpoint as JSON Schema, for `@fastify/swagger` and other generators.

import type { FastifyInstance, FastifySchema, FastifySerializerCompiler, RouteShorthandOptions } from 'fastify'
import { InvalidOptionError } from '../errors.ts'
import type { CallOptions } from '../options/call-options.ts'
import type { EndpointOptions } from '../options/endpoint-options.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * The route options of an endpoint, with schemas of its responses if its calls have schemas. The user's own schemas win.
 *
 * @throws GATEWAY_INVALID_OPTION for schemas beside a `compose` function
 */
export function documented(
  { calls, compose = 'object', route = {} }: EndpointOptions,
  where: string,
  app: FastifyInstance,
): RouteShorthandOptions {
  if (Object.values(calls).every(({ schema }) => schema === undefined)) return route
  if (typeof compose === 'function') {
    throw new InvalidOptionError(
      `Expected \`${where}.compose\` to be one of object, array, merge, as a call has \`schema\`, got a function: say by \`route.schema.response\` what it makes`,
    )
  }
  const own = (route.schema?.response ?? {}) as Record<string, unknown>
  return {
    ...route,
    schema: { ...route.schema, response: { ...failures(calls), 200: responseOf(calls, compose), ...own } },
    serializerCompiler: serializers(Object.keys(own), route.serializerCompiler ?? app.serializerCompiler),
  }
}

/**
 * Our schemas must not change the bytes: Fastify would drop members that they do not name. The user's own schemas go to the
 * serializer compiler that the user has set. Fastify's default compiler is not accessible here.
 */
function serializers(
  own: readonly string[],
  compiler: FastifySerializerCompiler<FastifySchema> | undefined,
): FastifySerializerCompiler<FastifySchema> {
  return (route) => {
    if (compiler && own.includes(String(route.httpStatus))) return compiler(route)
    return (value) => JSON.stringify(value instanceof Error ? membersOf(value) : value)
  }
}

/** The members of Fastify's error response, which are not enumerable here. */
function membersOf({
  statusCode,
  code,
  error,
  message,
}: Error & Partial<Record<'statusCode' | 'code' | 'error', unknown>>): object {
  return { statusCode, code, error, message }
}

function responseOf(
  calls: Readonly<Record<string, CallOptions>>,
  compose: Exclude<EndpointOptions['compose'], ((...values: never) => unknown) | undefined>,
): Schema {
  const description = 'The answers of the calls'
  const names = Object.keys(calls)
  const schemas = Object.values(calls).map(nullable)
  switch (compose) {
    case 'object':
      return {
        description,
        type: 'object',
        properties: Object.fromEntries(names.map((name, index) => [name, schemas[index]!])),
        required: names,
      }
    case 'array': {
      // OpenAPI 3.0 has no tuples.
      const count = { minItems: names.length, maxItems: names.length }
      const different = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
      return {
        description,
        type: 'array',
        items: different.length === 1 ? different[0] : { anyOf: different },
        ...count,
      }
    }
    default:
      return { description, ...merged(Object.values(calls)) }
  }
}

/** The schema of a call's part of the response. */
function nullable({ schema = {}, optional = false }: CallOptions): Schema {
  return optional && Object.keys(schema).length > 0 ? { anyOf: [schema, { type: 'null' }] } : schema
}

/** The schema for `merge`. Members of optional calls are not required. If names clash, the later call wins. */
function merged(calls: readonly CallOptions[]): Schema {
  const described = calls.filter(({ schema }) => schema !== undefined)
  if (!described.every(({ schema }) => isPlain(schema!))) {
    // The members behind a reference or a union are unknown here.
    const needed = described.filter(({ optional }) => !optional).map(({ schema }) => schema!)
    return needed.length === 0 ? { type: 'object' } : { type: 'object', allOf: needed }
  }
  const required = described.flatMap(({ schema, optional }) =>
    optional ? [] : ((schema!['required'] ?? []) as string[]),
  )
  return {
    type: 'object',
    properties: Object.assign({}, ...described.map(({ schema }) => schema!['properties'])) as Schema,
    ...(required.length === 0 ? {} : { required: [...new Set(required)] }),
  }
}

/** Whether a schema only lists the members of an object. */
function isPlain(schema: Schema): boolean {
  const known = ['type', 'properties', 'required', 'title', 'description', 'additionalProperties']
  return schema['properties'] !== undefined && Object.keys(schema).every((keyword) => known.includes(keyword))
}

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

/** The error responses of an endpoint. */
function failures(calls: Readonly<Record<string, CallOptions>>): Record<string, Schema> {
  const all = Object.values(calls)
  const needed = all.filter(({ optional }) => !optional)
  const described: Record<string, string> = {}
  if (all.some(({ path }) => /\{(?:params|query|headers|body)/.test(path))) {
    described['400'] = 'GATEWAY_BAD_PARAMETER: a value of the request is missing, or cannot be used'
  }
  for (const status of needed.flatMap(({ propagate = [] }) => propagate)) {
    described[status] = 'GATEWAY_UPSTREAM_STATUS: an upstream has answered so'
  }
  if (needed.length > 0) {
    described['502'] = 'GATEWAY_UPSTREAM_FAILED, GATEWAY_CIRCUIT_OPEN: an upstream cannot be asked, or has failed'
    described['503'] = 'GATEWAY_OVERLOADED: there are too many requests'
    described['504'] = 'GATEWAY_UPSTREAM_TIMEOUT: an upstream has not answered in time'
  }
  return Object.fromEntries(
    Object.entries(described).map(([status, description]) => [status, { description, ...ERROR }]),
  )
}
