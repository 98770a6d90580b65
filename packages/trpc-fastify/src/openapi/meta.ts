// The routes that procedures ask for by `meta.openapi`, in the shape of trpc-to-openapi.

import {
  anyOf,
  boolean,
  checkOptions,
  custom,
  integer,
  isRecord,
  list,
  object,
  oneOf,
  optional,
  type OptionsSchema,
  type Schema,
  string,
} from 'checked-options'
import { InvalidOpenApiError } from '../errors.ts'
import { definitionOf, type RouterInternals } from '../procedure/trpc-internals.ts'
import { isObject } from '../runtime/type-guards.ts'

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const
const CONTENT_TYPES = ['application/json', 'application/x-www-form-urlencoded'] as const

// An interface would not be assignable to the meta of trpc-to-openapi, which has an index signature.
/** Meta of a procedure with a route, in the shape of `trpc-to-openapi`. For `initTRPC.meta<OpenApiMeta>()`. */
export type OpenApiMeta = {
  openapi?: {
    /** Serve the route. @default true */
    enabled?: boolean
    method: (typeof METHODS)[number]
    /** Path with parameters in braces, such as `/users/{id}`. */
    path: `/${string}`
    /** @default the path of the procedure with dashes */
    operationId?: string
    summary?: string
    description?: string
    /** `false` documents the route as public. @default the security of the document */
    protect?: boolean
    tags?: string[]
    /** Content types of bodies. @default ['application/json'] */
    contentTypes?: string[]
    deprecated?: boolean
    successDescription?: string
    /** Documented statuses of errors. */
    errorResponses?: number[] | Record<number, string>
  }
}

type OpenApi = NonNullable<OpenApiMeta['openapi']>

/** Those of trpc-to-openapi that have no effect. */
const IGNORED = ['requestHeaders', 'responseHeaders']

/** A procedure with a route. */
export interface RestProcedure {
  readonly path: string
  readonly openapi: OpenApi
  readonly operationId: string
  /** Names of the parameters in the path. */
  readonly params: readonly string[]
  /** The path as Fastify writes it, such as `/users/:id`. */
  readonly url: string
  readonly contentTypes: readonly string[]
}

/** A path of plain segments and parameters. Colons, stars and parentheses have a meaning for Fastify's router. */
const PATH = /^(?:\/|(?:\/(?:[\w.~-]+|\{\w+\}))+)$/
const STATUS = /^[45]\d\d$/

const text = (): Schema<string> => custom('a string', (value) => typeof value === 'string')
const isDescribed = (value: unknown): boolean =>
  isRecord(value) && Object.entries(value).every(([status, one]) => STATUS.test(status) && typeof one === 'string')

const schema: OptionsSchema<OpenApi> = object({
  enabled: optional(boolean()),
  method: oneOf(...METHODS),
  path: custom<OpenApi['path']>(
    'segments such as "/users/{id}"',
    (value) => typeof value === 'string' && PATH.test(value),
  ),
  operationId: optional(string()),
  summary: optional(text()),
  description: optional(text()),
  protect: optional(boolean()),
  tags: optional(list(text())),
  contentTypes: optional(list(oneOf(...CONTENT_TYPES) as Schema<string>)),
  deprecated: optional(boolean()),
  successDescription: optional(text()),
  errorResponses: optional(
    anyOf(
      list(integer(400, 599)),
      custom<Record<number, string>>('an object of descriptions by such statuses', isDescribed),
    ),
  ),
})

/**
 * Returns the loaded procedures with a route. Those without `meta.openapi` have none.
 *
 * @throws TRPC_FASTIFY_INVALID_OPENAPI
 */
export function restProcedures({ paths, find }: RouterInternals): RestProcedure[] {
  const taken = new Map<string, string>()
  const named = new Map<string, string>()
  return paths.flatMap((path) => {
    const { meta, type } = definitionOf(find(path)!)
    const openapi = isObject(meta) ? (meta as OpenApiMeta).openapi : undefined
    if (openapi === undefined) return []
    const procedure = checked(path, openapi, type)
    if (openapi.enabled === false) return []
    const route = `${openapi.method} ${openapi.path.replaceAll(/\{\w+\}/g, '{}')}`
    const other = taken.get(route)
    if (other !== undefined)
      throw invalid(
        path,
        'path',
        `a route of its own, got ${openapi.method} ${openapi.path}, which collides with ${other}`,
      )
    taken.set(route, path)
    const namesake = named.get(procedure.operationId)
    if (namesake !== undefined)
      throw invalid(path, 'operationId', `a name of its own, got "${procedure.operationId}", which ${namesake} has`)
    named.set(procedure.operationId, path)
    return procedure
  })
}

function checked(path: string, given: OpenApi, type: string): RestProcedure {
  const known = isRecord(given)
    ? Object.fromEntries(Object.entries(given).filter(([name]) => !IGNORED.includes(name)))
    : given
  // A misspelled `enabled` would leave its route on.
  const openapi = checkOptions(schema, known, (message) => new InvalidOpenApiError(inMeta(path, message)))
  const { method, path: template, contentTypes = ['application/json'] } = openapi
  if (type === 'subscription') throw invalid(path, '', 'a query or mutation, got a subscription')
  // Links and images of other sites send GET with the user's cookies.
  if (type === 'mutation' && method === 'GET')
    throw invalid(path, 'method', 'POST, PATCH, PUT or DELETE for a mutation, got GET')
  if (contentTypes.length === 0) throw invalid(path, 'contentTypes', `some of ${CONTENT_TYPES.join(', ')}, got none`)
  const params = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  if (new Set(params).size < params.length || params.includes('__proto__')) {
    throw invalid(path, 'path', `parameters with different names, got ${JSON.stringify(template)}`)
  }
  const { operationId = path.replaceAll('.', '-') } = openapi
  return { path, openapi, operationId, params, url: template.replaceAll(/\{(\w+)\}/g, ':$1'), contentTypes }
}

/** The message of an invalid option, which names the option of the meta. */
function inMeta(path: string, message: string): string {
  return message.replace(/^Invalid option(?:s| "(.*?)"): /, (_, name: string | undefined) => {
    const property = name === undefined || name.startsWith('[') ? (name ?? '') : `.${name}`
    return `Invalid meta.openapi${property} of procedure "${path}": `
  })
}

/** An error of one line. */
export function invalid(path: string, property: string, problem: string): Error {
  const name = property === '' ? 'meta.openapi' : `meta.openapi.${property}`
  return new InvalidOpenApiError(`Invalid ${name} of procedure "${path}": expected ${problem}.`)
}
