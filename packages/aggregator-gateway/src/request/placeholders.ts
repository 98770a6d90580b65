// Places for values in paths and headers: `{params.id}`, `{query.page}`, `{user.sub}`, `{calls.profile.account}`.

import type { FastifyRequest } from 'fastify'
import { BadParameterError } from '../errors.ts'

/** Where values come from: the client's request, and the responses of other calls. */
export interface Values {
  readonly request: FastifyRequest
  /** The value of a call's response. */
  readonly callValue: (name: string) => unknown
}

/** A response of a call lacks a value that another call needs, or the value cannot be part of a path. */
export class MissingValueError extends Error {}

const SOURCES = ['params', 'query', 'headers', 'body', 'user', 'calls'] as const
export type Source = (typeof SOURCES)[number]

export interface Place {
  readonly name: string
  readonly source: Source
  readonly keys: readonly string[]
}

/** Splits a text into literals and places, which alternate. `refuse` throws. */
export function parsePlaces(
  text: string,
  refuse: (problem: string) => never,
): { literals: readonly string[]; places: readonly Place[] } {
  const parts = text.split(/\{([^{}]*)\}/)
  return {
    literals: parts.filter((_, index) => index % 2 === 0),
    places: parts.filter((_, index) => index % 2 === 1).map((name) => parsePlace(name, refuse)),
  }
}

function parsePlace(name: string, refuse: (problem: string) => never): Place {
  const [source, ...keys] = name.split('.')
  if (!SOURCES.includes(source as never) || (source !== 'body' && keys.length === 0) || keys.includes('')) {
    refuse(`{${name}} is none of ${SOURCES.map((one) => `{${one}.name}`).join(', ')}`)
  }
  if (source === 'headers' && keys[0] !== keys[0]!.toLowerCase()) {
    refuse(`names of headers are in lower case: {headers.${keys[0]!.toLowerCase()}}`)
  }
  return { name, source: source as Source, keys }
}

/** The names after `{source.`, each once. */
export function namesOf(places: readonly Place[], source: Source): readonly string[] {
  return [...new Set(places.filter((place) => place.source === source).map(({ keys }) => keys[0]!))]
}

/**
 * The text of a place's value.
 *
 * @throws GATEWAY_BAD_PARAMETER for a value of the client's request, {@link MissingValueError} for one of a call
 */
export function textOf(place: Place, values: Values): string {
  const value = valueAt(place, values)
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? value : refusePlace(place, 'is not well-formed Unicode')
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value)
    case 'undefined':
      return refusePlace(place, 'is missing')
    default:
      if (isRawJson(value)) return value.rawJSON
      return refusePlace(place, value === null ? 'is null' : 'is no single value')
  }
}

/** Says that a value cannot be used: 400 for a client's, a failed dependency for a call's. */
export function refusePlace({ name, source }: Place, problem: string): never {
  const message = `{${name}} ${problem}`
  throw source === 'calls' ? new MissingValueError(message) : new BadParameterError(message)
}

/** A number as an upstream has written it. */
function isRawJson(value: unknown): value is { rawJSON: string } {
  return (JSON as unknown as { isRawJSON: (value: unknown) => boolean }).isRawJSON(value)
}

function valueAt({ source, keys }: Place, values: Values): unknown {
  let value =
    source === 'calls' ? values.callValue(keys[0]!) : (values.request as unknown as Record<string, unknown>)[source]
  for (let index = source === 'calls' ? 1 : 0; index < keys.length; index++) {
    const key = keys[index]!
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}
