// Paths of upstream requests: `/users/{params.id}?page={query.page}`. A value is percent-encoded and stays within its segment
// or its query value. It can reach no other path and no other origin, however the upstream decodes it.

import { invalidOptionError } from '../options/invalid-option.ts'
import { hasSeparator, isSuspect, pathEscapeOf } from './path-traversal.ts'
import {
  namesOf,
  paramsOf,
  parsePlaceholders,
  type Placeholder,
  rejectValue,
  textOf,
  type Values,
} from './placeholders.ts'

/** A path with placeholders. */
export interface PathTemplate {
  /** Names of the calls whose responses it needs. */
  readonly calls: readonly string[]
  /** Names of the client's path parameters that it needs. */
  readonly params: readonly string[]
  /** Sources of its values. */
  readonly sources: readonly Placeholder['source'][]
  /**
   * Fills in the values.
   *
   * @throws AGGREGATOR_GATEWAY_BAD_PARAMETER for a value of the client, MissingValueError for a value of a call
   */
  readonly render: (values: Values) => string
  /**
   * Fills in the values of the client, and `placeholder` for each value of a call.
   *
   * @throws AGGREGATOR_GATEWAY_BAD_PARAMETER
   */
  readonly renderWithout: (placeholder: string, values: Values) => string
}

export interface PathTemplateOptions {
  /** Values in path segments may have a slash, which is sent as `%2F`. */
  readonly allowEncodedSlash: boolean
  /** The list of `{item}`. */
  readonly list?: Placeholder | undefined
}

/** Characters that need no encoding in a path. */
const LITERAL = /^[\w\-.~!$&'()*+,;=:@/%?]*$/

interface PathPlaceholder extends Placeholder {
  /** An empty value would change the structure of a path; a query value can be empty. */
  readonly isInQuery: boolean
}

/** Parses a template. `where` names the option in errors. */
export function parseTemplate(
  text: string,
  where: string,
  { allowEncodedSlash, list }: PathTemplateOptions,
): PathTemplate {
  const reject = (problem: string): never => {
    throw invalidOptionError(where, `a path such as "/users/{params.id}" (${problem})`, text)
  }
  if (!text.startsWith('/') || text.startsWith('//')) reject('it must start with a single slash')
  const { literals, placeholders: found } = parsePlaceholders(text, reject, list)
  for (const literal of literals) if (!LITERAL.test(literal)) reject('some characters must be encoded')
  // `z` is no hexadecimal digit, so that no value completes an escape.
  const withoutValues = literals.join('z')
  if (/%(?![\dA-Fa-f]{2})/.test(withoutValues)) reject('a % must start an escape of two hexadecimal digits')
  const inPath = literals.findIndex((literal) => literal.includes('?'))
  const placeholders = found.map((one, index) => ({ ...one, isInQuery: inPath !== -1 && index >= inPath }))
  // As a name, a value of the client could be that of a parameter that the path sets.
  if (placeholders.some(({ isInQuery }, index) => isInQuery && !isQueryValue(literals.slice(0, index + 1).join('z')))) {
    reject('in the query, a placeholder can be a value, not a name')
  }
  if (pathEscapeOf(pathnameOf(withoutValues))) reject('no segment may be . or ..')
  const template = { literals, placeholders, allowEncodedSlash }
  return {
    calls: namesOf(placeholders, 'calls'),
    params: namesOf(placeholders, 'params'),
    sources: placeholders.map(({ source }) => source),
    render: placeholders.length === 0 ? () => text : (values) => render(template, values),
    renderWithout: (placeholder, values) => render(template, values, placeholder),
  }
}

/** Throws for a `{params.name}` that the route has not. */
export function assertParams({ params }: PathTemplate, url: string, where: string): void {
  const unknown = params.find((param) => !paramsOf(url).includes(param))
  if (unknown === undefined) return
  throw invalidOptionError(where, `path parameters of ${url}`, `{params.${unknown}}`)
}

interface ParsedPath extends Pick<PathTemplateOptions, 'allowEncodedSlash'> {
  readonly literals: readonly string[]
  readonly placeholders: readonly PathPlaceholder[]
}

function render(
  { literals, placeholders, allowEncodedSlash }: ParsedPath,
  values: Values,
  placeholder?: string,
): string {
  let path = literals[0]!
  let suspect: Placeholder | undefined
  for (let index = 0; index < placeholders.length; index++) {
    const one = placeholders[index]!
    if (placeholder !== undefined && one.isOfCall) {
      path += placeholder + literals[index + 1]!
      continue
    }
    const value = textOf(one, values)
    if (!one.isInQuery) {
      if (value === '') rejectValue(one, 'is empty')
      if (isSuspect(value)) {
        // A client's value is blamed before a call's: the response is a 400 then.
        if (!suspect || suspect.isOfCall) suspect = one
        if (!allowEncodedSlash && hasSeparator(value)) rejectValue(one, 'has a slash')
      }
    }
    path += encodeURIComponent(value) + literals[index + 1]!
  }
  const escape =
    suspect && pathEscapeOf(pathnameOf(placeholder === undefined ? path : path.replaceAll(placeholder, 'z')))
  if (escape) rejectValue(suspect!, escape)
  return path
}

/** Whether text that follows is part of the value of a query parameter. */
function isQueryValue(before: string): boolean {
  return before.slice(Math.max(before.indexOf('?'), before.lastIndexOf('&')) + 1).includes('=')
}

function pathnameOf(path: string): string {
  return path.split('?', 1)[0]!
}
