// Placeholders in paths and headers: `{params.id}`, `{query.page}`, `{user.sub}`, `{calls.profile.account}`.

import type { FastifyRequest } from 'fastify'
import { BadParameterError, UpstreamFault } from '../errors.ts'
import { claimsOf } from './claims.ts'

/** The sources of values: the client's request, and responses of other calls. */
export interface Values {
  readonly request: FastifyRequest
  /** The value of a call's response. */
  readonly callValue: (name: string) => unknown
  /** The current item of a call with `forEach`. */
  readonly item?: unknown
}

/** A call's response lacks a value that another call needs, or the value cannot be part of a path. */
export class MissingValueError extends UpstreamFault {}

const SOURCES = ['params', 'query', 'headers', 'body', 'user', 'claims', 'calls', 'item'] as const
/** Sources that can be one value. */
const WHOLE: readonly string[] = ['body', 'item']
export type Source = (typeof SOURCES)[number]

export interface Placeholder {
  readonly name: string
  readonly source: Source
  /** The value is of a call's response, not of the client's request. */
  readonly isOfCall: boolean
  readonly keys: readonly string[]
}

/** Splits a text into literals and placeholders, which alternate. `reject` throws. `list` is that of the items, if any. */
export function parsePlaceholders(
  text: string,
  reject: (problem: string) => never,
  list?: Placeholder,
): { literals: readonly string[]; placeholders: readonly Placeholder[] } {
  const parts = text.split(/\{([^{}]*)\}/)
  return {
    literals: parts.filter((_, index) => index % 2 === 0),
    placeholders: parts.filter((_, index) => index % 2 === 1).map((name) => parsePlaceholder(name, reject, list)),
  }
}

function parsePlaceholder(name: string, reject: (problem: string) => never, list?: Placeholder): Placeholder {
  const [source, ...keys] = name.split('.')
  if (!SOURCES.includes(source as never) || (!WHOLE.includes(source!) && keys.length === 0) || keys.includes('')) {
    reject(`{${name}} is none of ${SOURCES.map((one) => `{${one}.name}`).join(', ')}`)
  }
  if (source === 'item' && !list) reject(`{${name}} is for the path of a call with forEach`)
  if (source === 'headers' && keys[0] !== keys[0]!.toLowerCase()) {
    reject(`header names must be in lower case: {headers.${keys[0]!.toLowerCase()}}`)
  }
  const isOfCall = source === 'calls' || (source === 'item' && list!.isOfCall)
  return { name, source: source as Source, isOfCall, keys }
}

/** The distinct names after `{source.`. */
export function namesOf(placeholders: readonly Placeholder[], source: Source): readonly string[] {
  return [...new Set(placeholders.filter((one) => one.source === source).map(({ keys }) => keys[0]!))]
}

/**
 * The text of a placeholder's value.
 *
 * @throws AGGREGATOR_GATEWAY_BAD_PARAMETER for a value of the client's request, MissingValueError for a value of a call
 */
export function textOf(placeholder: Placeholder, values: Values): string {
  const value = valueAt(placeholder, values)
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? value : rejectValue(placeholder, 'is not well-formed Unicode')
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value)
    case 'undefined':
      return rejectValue(placeholder, 'is missing')
    default:
      if (isRawJson(value)) return value.rawJSON
      return rejectValue(placeholder, value === null ? 'is null' : 'is no single value')
  }
}

/** Throws for an unusable value: a 400 for a client's, a failed dependency for a call's. */
export function rejectValue({ name, isOfCall }: Placeholder, problem: string): never {
  const message = `{${name}} ${problem}`
  throw isOfCall ? new MissingValueError(message) : new BadParameterError(message)
}

/** A number in an upstream's own notation. */
export function isRawJson(value: unknown): value is { rawJSON: string } {
  return (JSON as unknown as { isRawJSON: (value: unknown) => boolean }).isRawJSON(value)
}

/** The value of a placeholder, of any kind; undefined if it is missing. */
export function valueAt({ source, keys }: Placeholder, values: Values): unknown {
  let value = rootOf(source, keys, values)
  for (let index = source === 'calls' ? 1 : 0; index < keys.length; index++) {
    const key = keys[index]!
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}

function rootOf(source: Source, keys: readonly string[], values: Values): unknown {
  switch (source) {
    case 'calls':
      return values.callValue(keys[0]!)
    case 'claims':
      return claimsOf(values.request)
    case 'item':
      return values.item
    default:
      return (values.request as unknown as Record<string, unknown>)[source]
  }
}

/** Names of the path parameters of a route, in the syntax of find-my-way. */
export function paramsOf(path: string): string[] {
  const names = [...path.matchAll(/(?<!:):(\w+)/g)].map(([, name]) => name!)
  return path.endsWith('*') ? [...names, '*'] : names
}
