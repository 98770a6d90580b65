// Paths of upstream calls: `/users/{params.id}?page={query.page}`. A value is percent-encoded and stays within its segment
// or its query value: it can reach no other path and no other origin, however the upstream decodes it.

import { InvalidOptionError } from '../errors.ts'
import { hasSeparator, isSuspect, pathEscapeOf } from './path-escape.ts'
import { namesOf, parsePlaces, type Place, refusePlace, textOf, type Values } from './placeholders.ts'

/** A path with places for values. */
export interface Template {
  /** Names of the calls whose responses it needs. */
  readonly calls: readonly string[]
  /** Names of the client's path parameters that it needs. */
  readonly params: readonly string[]
  /**
   * Fills in the values.
   *
   * @throws GATEWAY_BAD_PARAMETER for a value of the client, MissingValueError for a value of a call
   */
  readonly render: (values: Values) => string
  /**
   * Fills in the values of the client, and `placeholder` for each value of a call.
   *
   * @throws GATEWAY_BAD_PARAMETER
   */
  readonly renderWithout: (placeholder: string, values: Values) => string
}

export interface TemplateOptions {
  /** Values in path segments may have a slash, which is sent as `%2F`. */
  readonly allowEncodedSlash: boolean
}

/** What may stand in a path as it is. */
const LITERAL = /^[\w\-.~!$&'()*+,;=:@/%?]*$/

interface PathPlace extends Place {
  /** An empty value would change the structure of a path; a query value can be empty. */
  readonly isInQuery: boolean
}

/** Reads a template; `where` names the option in errors. */
export function parseTemplate(text: string, where: string, { allowEncodedSlash }: TemplateOptions): Template {
  const refuse = (problem: string): never => {
    throw new InvalidOptionError(
      `Expected \`${where}\` to be a path such as /users/{params.id}, got "${text}": ${problem}`,
    )
  }
  if (!text.startsWith('/') || text.startsWith('//')) refuse('it begins with one slash')
  const { literals, places: found } = parsePlaces(text, refuse)
  for (const literal of literals) if (!LITERAL.test(literal)) refuse(`"${literal}" has characters that must be encoded`)
  // No hexadecimal digit, so that no value completes an escape.
  const withoutValues = literals.join('z')
  if (/%(?![\dA-Fa-f]{2})/.test(withoutValues)) refuse('a % begins an escape of two hexadecimal digits')
  const inPath = literals.findIndex((literal) => literal.includes('?'))
  const places = found.map((place, index) => ({ ...place, isInQuery: inPath !== -1 && index >= inPath }))
  if (pathEscapeOf(pathnameOf(withoutValues))) refuse('its segments are none of . and ..')
  const template = { literals, places, allowEncodedSlash }
  return {
    calls: namesOf(places, 'calls'),
    params: namesOf(places, 'params'),
    render: places.length === 0 ? () => text : (values) => render(template, values),
    renderWithout: (placeholder, values) => render(template, values, placeholder),
  }
}

interface ParsedTemplate extends TemplateOptions {
  readonly literals: readonly string[]
  readonly places: readonly PathPlace[]
}

function render({ literals, places, allowEncodedSlash }: ParsedTemplate, values: Values, placeholder?: string): string {
  let path = literals[0]!
  let suspect: Place | undefined
  for (let index = 0; index < places.length; index++) {
    const place = places[index]!
    if (placeholder !== undefined && place.source === 'calls') {
      path += placeholder + literals[index + 1]!
      continue
    }
    const value = textOf(place, values)
    if (!place.isInQuery) {
      if (value === '') refusePlace(place, 'is empty')
      if (isSuspect(value)) {
        // Which value is blamed decides who is told: the client's comes first.
        if (!suspect || suspect.source === 'calls') suspect = place
        if (!allowEncodedSlash && hasSeparator(value)) refusePlace(place, 'has a slash')
      }
    }
    path += encodeURIComponent(value) + literals[index + 1]!
  }
  const escape =
    suspect && pathEscapeOf(pathnameOf(placeholder === undefined ? path : path.replaceAll(placeholder, 'z')))
  if (escape) refusePlace(suspect!, escape)
  return path
}

function pathnameOf(path: string): string {
  return path.split('?', 1)[0]!
}
