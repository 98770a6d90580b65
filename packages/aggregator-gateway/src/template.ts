// Paths of upstream calls: `/users/{params.id}?page={query.page}`. A value is percent-encoded, so that it stays
// within its segment or its query value: it can reach no other path and no other origin.

import { BadParameterError, InvalidOptionError } from './errors.ts'

/** Where values come from: the client's request, and the answers of other calls. */
export interface Values {
  readonly params: unknown
  readonly query: unknown
  readonly headers: unknown
  readonly body: unknown
  /** The value of a call's answer. */
  readonly callValue: (name: string) => unknown
}

/** A path with places for values. */
export interface Template {
  /** Names of the calls whose answers it needs. */
  readonly calls: readonly string[]
  /** Names of the client's path parameters that it needs. */
  readonly params: readonly string[]
  /** Names of the client's headers that it needs. */
  readonly headers: readonly string[]
  /**
   * Fills in the values.
   *
   * @throws GATEWAY_BAD_PARAMETER for what comes from the client, {@link MissingValueError} for what comes from a call
   */
  readonly render: (values: Values) => string
}

/** An answer of a call lacks a value that another call needs, or it cannot be part of a path. */
export class MissingValueError extends Error {}

const SOURCES = ['params', 'query', 'headers', 'body', 'calls'] as const

interface Place {
  readonly name: string
  readonly source: (typeof SOURCES)[number]
  readonly keys: readonly string[]
  /** An empty value would change the structure of a path; a query value can be empty. */
  readonly isInQuery: boolean
}

/** What may stand in a path as it is. */
const LITERAL = /^[\w\-.~!$&'()*+,;=:@/%?]*$/

/** Reads a template; `where` names the option in errors. */
export function parseTemplate(text: string, where: string): Template {
  const parts = text.split(/\{([^{}]*)\}/)
  const literals = parts.filter((_, index) => index % 2 === 0)
  const refuse = (problem: string): never => {
    throw new InvalidOptionError(
      `Expected \`${where}\` to be a path such as /users/{params.id}, got "${text}": ${problem}`,
    )
  }
  if (!text.startsWith('/') || text.startsWith('//')) refuse('it begins with one slash')
  for (const literal of literals) if (!LITERAL.test(literal)) refuse(`"${literal}" has characters that must be encoded`)
  if (/%(?![\dA-Fa-f]{2})/.test(literals.join('a'))) refuse('a % begins an escape of two hexadecimal digits')
  let isInQuery = false
  const places = parts
    .map((part, index) => {
      if (index % 2 === 0) {
        isInQuery ||= part.includes('?')
        return undefined
      }
      const [source, ...keys] = part.split('.')
      if (!SOURCES.includes(source as never) || (source !== 'body' && keys.length === 0) || keys.includes('')) {
        refuse(`{${part}} is none of ${SOURCES.map((name) => `{${name}.name}`).join(', ')}`)
      }
      return { name: part, source: source as Place['source'], keys, isInQuery }
    })
    .filter((place) => place !== undefined)
  if (leavesPath(literals.join('a'))) refuse('its segments are none of . and ..')

  const namesOf = (source: Place['source']): string[] => [
    ...new Set(places.filter((place) => place.source === source).map(({ keys }) => keys[0]!)),
  ]
  return {
    calls: namesOf('calls'),
    params: namesOf('params'),
    headers: namesOf('headers'),
    render: places.length === 0 ? () => text : (values) => render(literals, places, values),
  }
}

function render(literals: readonly string[], places: readonly Place[], values: Values): string {
  let path = literals[0]!
  for (let index = 0; index < places.length; index++) {
    path += encoded(places[index]!, values) + literals[index + 1]!
  }
  // Values have no slash, but a whole segment of dots needs none.
  if (path.includes('/.') && leavesPath(path)) {
    throw new BadParameterError(`A path of . or .. was asked for: ${path}`)
  }
  return path
}

function encoded(place: Place, values: Values): string {
  const value = valueAt(place, values)
  const refuse = (problem: string): never => {
    const message = `{${place.name}} ${problem}`
    throw place.source === 'calls' ? new MissingValueError(message) : new BadParameterError(message)
  }
  switch (typeof value) {
    case 'string':
      if (value === '' && !place.isInQuery) return refuse('is empty')
      if (!value.isWellFormed()) return refuse('is not well-formed Unicode')
      return encodeURIComponent(value)
    case 'number':
    case 'boolean':
    case 'bigint':
      return encodeURIComponent(String(value))
    case 'undefined':
      return refuse('is missing')
    default:
      if (isRawJson(value)) return encodeURIComponent(value.rawJSON)
      return refuse(value === null ? 'is null' : 'is no single value')
  }
}

/** A number as an upstream has written it. */
function isRawJson(value: unknown): value is { rawJSON: string } {
  return (JSON as unknown as { isRawJSON: (value: unknown) => boolean }).isRawJSON(value)
}

function valueAt({ source, keys }: Place, values: Values): unknown {
  let value = source === 'calls' ? values.callValue(keys[0]!) : values[source]
  for (let index = source === 'calls' ? 1 : 0; index < keys.length; index++) {
    const key = keys[index]!
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}

/** Whether a segment is one that servers resolve: `.` or `..`, encoded or not. */
function leavesPath(path: string): boolean {
  return /\/(?:\.|%2e){1,2}(?=[/?]|$)/i.test(path)
}
