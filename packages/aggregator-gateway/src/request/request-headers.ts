// Headers of an upstream's request: literal, forwarded and templated ones. They are rendered once for each request, after
// its hooks: the same headers go into the keys of coalesced and cached responses.

import type { FastifyRequest, RawRequestDefaultExpression } from 'fastify'
import { BadParameterError, InvalidHeaderError } from '../errors.ts'
import { connectionHeadersOf, isHeaderValue, isSettable, isTraceHeader } from '../http/header-rules.ts'
import type { HeadersOption, MakeHeaders } from '../options/call-options.ts'
import { invalidOptionError } from '../options/invalid-option.ts'
import { parsePlaceholders, type Placeholder, rejectValue, textOf, type Values } from './placeholders.ts'

/** Headers of an upstream's request, by name in lower case. */
export type Headers = Readonly<Record<string, string>>

export interface HeaderPlan {
  readonly literals: Headers
  /** Names of the client's headers that are forwarded. */
  readonly forwarded: readonly string[]
  readonly templates: readonly HeaderTemplate[]
  readonly make: MakeHeaders | undefined
}

interface HeaderTemplate {
  readonly name: string
  readonly literals: readonly string[]
  readonly placeholders: readonly Placeholder[]
}

/**
 * Plans the headers of a call. `where` names it in errors. `isCached` if its upstream has a response cache.
 *
 * @throws AGGREGATOR_GATEWAY_INVALID_OPTION for a header that cannot be sent
 */
export function planHeaders(
  headers: HeadersOption,
  {
    defaults = {},
    forwarded,
    isCached,
    where,
  }: { defaults?: Headers; forwarded: readonly string[]; isCached: boolean; where: string },
): HeaderPlan {
  if (typeof headers === 'function') return { literals: defaults, forwarded, templates: [], make: headers }
  const literals: Record<string, string> = { ...defaults }
  const templates: HeaderTemplate[] = []
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase()
    const at = `${where}.${given}`
    assertSendable(name, value, at)
    const { literals: parts, placeholders } = parsePlaceholders(value, (problem) => {
      throw invalidOptionError(at, `a value with placeholders such as {user.sub} (${problem})`, value)
    })
    if (/[{}]/.test(parts.join(''))) throw invalidOptionError(at, 'placeholders in pairs of braces', value)
    if (placeholders.some(({ source }) => source === 'calls')) {
      throw invalidOptionError(at, 'values of the request only', value)
    }
    // One user would get the cached response of another.
    if (isCached && isTraceHeader(name) && placeholders.some(isOfUser)) {
      throw invalidOptionError(at, 'no value of a user in a trace header, which cache keys leave out', value)
    }
    // A client could replace the value.
    if (forwarded.includes(name)) throw invalidOptionError(at, 'a header that is not forwarded too', value)
    if (placeholders.length === 0) literals[name] = value
    else {
      delete literals[name]
      templates.push({ name, literals: parts, placeholders })
    }
  }
  return { literals, forwarded, templates, make: undefined }
}

/** Whether a value can tell users apart. Of the client's headers, only trace headers cannot. */
function isOfUser({ source, keys }: Placeholder): boolean {
  return source === 'claims' || source === 'user' || (source === 'headers' && !isTraceHeader(keys[0]!))
}

function assertSendable(name: string, value: unknown, at: string): void {
  if (!isSettable(name)) throw invalidOptionError(at, 'a header that can be sent', name)
  if (typeof value === 'string' && isHeaderValue(value)) return
  throw invalidOptionError(at, 'Latin-1 text without line breaks', value)
}

/**
 * The headers for one request. Observers have `added` some.
 *
 * @throws AGGREGATOR_GATEWAY_BAD_PARAMETER for values of the client that are missing or cannot be sent
 * @throws AGGREGATOR_GATEWAY_INVALID_HEADER for headers that a function returns
 */
export function renderHeaders(plan: HeaderPlan, values: Values, added?: Headers): Headers {
  const { literals, forwarded, templates, make } = plan
  if (forwarded.length === 0 && templates.length === 0 && !make && !added) return literals
  const { request } = values
  const headers: Record<string, string> = { ...literals }
  if (forwarded.length > 0) forward(headers, forwarded, request)
  if (added) Object.assign(headers, added)
  for (const template of templates) headers[template.name] = renderTemplate(template, values)
  if (make) Object.assign(headers, checkedHeaders(make(request), 'A function in `headers`'))
  return headers
}

function forward(
  headers: Record<string, string>,
  names: readonly string[],
  { headers: headersNow, raw }: FastifyRequest,
): void {
  const connectionHeaders = connectionHeadersOf(headersNow.connection)
  for (const name of names) {
    const value = headersNow[name]
    if (value === undefined) continue
    const text = String(value)
    // Otherwise a client could strip the identity that a hook has set. RFC 9110, 7.6.1, also forbids to forward the
    // client's own value.
    if (connectionHeaders.includes(name) && isAsSent(name, text, raw)) {
      throw new BadParameterError(`The header "connection" names "${name}", which is forwarded`)
    }
    if (!isHeaderValue(text)) throw new BadParameterError(`The header "${name}" has characters that cannot be sent`)
    headers[name] = text
  }
}

/** Whether a header still has the client's value: no hook has changed it. */
function isAsSent(name: string, value: string, { rawHeaders }: RawRequestDefaultExpression): boolean {
  return rawHeaders.some(
    (one, index) => index % 2 === 0 && one.toLowerCase() === name && value.includes(rawHeaders[index + 1]!),
  )
}

function renderTemplate({ literals, placeholders }: HeaderTemplate, values: Values): string {
  let text = literals[0]!
  for (const [index, one] of placeholders.entries()) {
    const value = textOf(one, values)
    if (!isHeaderValue(value)) rejectValue(one, 'has characters that no header can have')
    text += value + literals[index + 1]!
  }
  return text
}

/**
 * Checks headers from code of the app, and returns them by name in lower case.
 *
 * @throws AGGREGATOR_GATEWAY_INVALID_HEADER for one that cannot be sent
 */
export function checkedHeaders(given: Readonly<Record<string, string | number | undefined>>, source: string): Headers {
  const headers: Record<string, string> = {}
  for (const [givenName, value] of Object.entries(given ?? {})) {
    if (value === undefined) continue
    const name = givenName.toLowerCase()
    const isSendable = (typeof value === 'string' || typeof value === 'number') && isHeaderValue(String(value))
    if (!isSettable(name) || !isSendable) {
      throw new InvalidHeaderError(`${source} returned the header "${givenName}", which cannot be sent`)
    }
    headers[name] = String(value)
  }
  return headers
}
