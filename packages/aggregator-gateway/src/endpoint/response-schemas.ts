// The responses of an endpoint as JSON Schema, for `@fastify/swagger` and other generators.

import type { FastifyInstance, FastifySchema, FastifySerializerCompiler, RouteShorthandOptions } from 'fastify'
import { invalidOptionError } from '../options/invalid-option.ts'
import type {
  ResolvedCall,
  ResolvedEndpoint,
  ResolvedPassThrough,
  ResolvedPassThroughEndpoint,
} from '../options/resolved.ts'

type Schema = Readonly<Record<string, unknown>>

const COMPOSED = 'The responses of the calls'
const BAD_PARAMETER = 'AGGREGATOR_GATEWAY_BAD_PARAMETER: a value of the request is missing, or cannot be used'
const CLIENT_TIMEOUT = 'AGGREGATOR_GATEWAY_CLIENT_TIMEOUT: the client paused for too long while it sent its body'
const FORWARDED = 'AGGREGATOR_GATEWAY_UPSTREAM_STATUS: the status of an upstream'
const OVERLOADED = 'AGGREGATOR_GATEWAY_OVERLOADED: the queue of an upstream is full'
const KEYS_UNAVAILABLE = "AGGREGATOR_GATEWAY_KEYS_UNAVAILABLE: the keys of tokens can't be fetched"
const UNAUTHENTICATED = 'AGGREGATOR_GATEWAY_UNAUTHENTICATED: the credentials of the client are missing or invalid'

/**
 * The route options of an endpoint, with schemas of its responses if its calls have schemas. The user's own schemas win.
 *
 * @throws AGGREGATOR_GATEWAY_INVALID_OPTION for schemas beside a `compose` function
 */
export function documented(
  endpoint: ResolvedEndpoint,
  where: string,
  app: FastifyInstance,
  isAuthenticated: boolean,
): RouteShorthandOptions {
  const { calls, compose, route } = endpoint
  const errors = failures(endpoint, isAuthenticated)
  if (Object.values(calls).every(({ schema }) => schema === undefined)) {
    return isAuthenticated ? withResponses(route, { 200: { description: COMPOSED }, ...errors }) : route
  }
  if (typeof compose === 'function') {
    const expected = '"object" or "array" or "merge" beside the schema of a call (or use route.schema.response)'
    throw invalidOptionError(`${where}.compose`, expected, compose)
  }
  const own = (route.schema?.response ?? {}) as Record<string, unknown>
  return {
    ...route,
    schema: {
      ...route.schema,
      response: { ...errors, 200: responseOf(calls, compose), ...own },
    },
    serializerCompiler: serializers(Object.keys(own), route.serializerCompiler ?? app.serializerCompiler),
  }
}

/** The route options of a pass-through endpoint, with schemas of its responses if it verifies its clients. */
export function documentedPassThrough(
  { method, passThrough, route }: ResolvedPassThroughEndpoint,
  isAuthenticated: boolean,
): RouteShorthandOptions {
  if (!isAuthenticated) return route
  const errors = { ...failuresOfRequest([passThrough], isAuthenticated), ...failuresOfUpstreams(isAuthenticated) }
  const stalled = method === 'GET' ? {} : { 408: CLIENT_TIMEOUT }
  // For @fastify/swagger, the type null is a response of an unknown type.
  const success = { type: 'null', description: 'The response of the upstream' }
  return withResponses(route, { 200: success, ...describedErrors({ ...errors, ...stalled }) })
}

/**
 * A route with schemas of its responses. The user's own schemas stay as they are: with ours beside them, Fastify's compiler
 * could not serialize theirs.
 */
function withResponses(route: RouteShorthandOptions, response: Record<string, Schema>): RouteShorthandOptions {
  if (route.schema?.response !== undefined) return route
  return { ...route, schema: { ...route.schema, response }, serializerCompiler: serializers([], undefined) }
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
  calls: Readonly<Record<string, ResolvedCall>>,
  compose: Exclude<ResolvedEndpoint['compose'], ((...values: never) => unknown) | undefined>,
): Schema {
  const description = COMPOSED
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
function nullable({ schema = {}, optional, forEach, when }: ResolvedCall): Schema {
  const orNull = (one: Schema): Schema => (Object.keys(one).length > 0 ? { anyOf: [one, { type: 'null' }] } : one)
  const whole = forEach ? { type: 'array', items: optional ? orNull(schema) : schema } : schema
  return optional || when !== undefined ? orNull(whole) : whole
}

/** The schema for `merge`. Members of optional calls are not required. If names clash, the later call wins. */
function merged(calls: readonly ResolvedCall[]): Schema {
  const described = calls.filter(({ schema }) => schema !== undefined)
  if (!described.every(({ schema }) => isPlain(schema!))) {
    // The members behind a reference or a union are unknown here.
    const needed = described
      .filter(({ optional, when }) => !optional && when === undefined)
      .map(({ schema }) => schema!)
    return needed.length === 0 ? { type: 'object' } : { type: 'object', allOf: needed }
  }
  const required = described.flatMap(({ schema, optional, when }) =>
    optional || when !== undefined ? [] : ((schema!['required'] ?? []) as string[]),
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

type Descriptions = Readonly<Record<string, string>>

/** The error responses of an endpoint. */
function failures({ calls, allowAllFailed }: ResolvedEndpoint, isAuthenticated: boolean): Record<string, Schema> {
  const all = Object.values(calls)
  const needed = all.filter(({ optional }) => !optional)
  const forwarded = needed.flatMap(({ forwardStatuses }) => forwardStatuses)
  return describedErrors({
    ...failuresOfRequest(all, isAuthenticated),
    ...Object.fromEntries(forwarded.map((status) => [status, FORWARDED])),
    // Optional calls fail the request if all of them fail.
    ...(needed.length > 0 || !allowAllFailed ? failuresOfUpstreams(isAuthenticated) : {}),
  })
}

function failuresOfRequest(
  calls: readonly (ResolvedCall | ResolvedPassThrough)[],
  isAuthenticated: boolean,
): Descriptions {
  return {
    ...(isAuthenticated ? { 401: UNAUTHENTICATED, 503: KEYS_UNAVAILABLE } : {}),
    ...(calls.some(takesValues) ? { 400: BAD_PARAMETER } : {}),
  }
}

/** Whether a request can be rejected for a value that a call takes of it. */
function takesValues(call: ResolvedCall | ResolvedPassThrough): boolean {
  const { path, headers, forwardHeaders, forwardQuery } = call
  if (forwardHeaders.length > 0 || forwardQuery.length > 0) return true
  const list = 'forEach' in call && call.forEach ? [call.forEach.items] : []
  const values = typeof headers === 'function' ? [] : Object.values(headers)
  return [path, ...list, ...values].some((text) => /\{(?:params|query|headers|body|user|claims)\b/.test(text))
}

function failuresOfUpstreams(isAuthenticated: boolean): Descriptions {
  return {
    502: 'AGGREGATOR_GATEWAY_UPSTREAM_FAILED, AGGREGATOR_GATEWAY_CIRCUIT_OPEN: a call failed, or its circuit is open',
    503: isAuthenticated ? `${OVERLOADED}; ${KEYS_UNAVAILABLE}` : OVERLOADED,
    504: 'AGGREGATOR_GATEWAY_UPSTREAM_TIMEOUT: an upstream did not respond in time',
  }
}

function describedErrors(described: Descriptions): Record<string, Schema> {
  return Object.fromEntries(
    Object.entries(described).map(([status, description]) => [status, { description, ...ERROR }]),
  )
}
