// Prepares a pass-through endpoint.

import type { Method } from '../http/methods.ts'
import type { Instrumentation } from '../observability/observers.ts'
import { invalidOptionError } from '../options/invalid-option.ts'
import type { ResolvedPassThroughEndpoint } from '../options/resolved.ts'
import { EndlessStreams } from './open-streams.ts'
import { assertForwardedQuery } from '../request/forwarded-query.ts'
import { assertParams, parseTemplate, type PathTemplate } from '../request/path-template.ts'
import { type HeaderPlan, planHeaders } from '../request/request-headers.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { dependsOnClient } from './private-response.ts'

/** Headers that describe the response, its lifetime, and how browsers may use it. */
const RESPONSE_HEADERS: readonly string[] = [
  // Node recodes `content-disposition` if `content-length` was set before: it comes first.
  ...['content-disposition', 'content-type', 'content-length', 'content-encoding', 'content-language'],
  ...['accept-ranges', 'content-range', 'etag', 'last-modified', 'cache-control', 'expires', 'age', 'date', 'vary'],
  ...['content-security-policy', 'cross-origin-resource-policy', 'x-content-type-options', 'retry-after', 'allow'],
]

/** A pass-through endpoint, ready to serve requests. */
export interface PlannedPassThrough {
  readonly upstream: Upstream
  readonly method: Method
  readonly path: PathTemplate
  readonly headers: HeaderPlan
  readonly forwardQuery: readonly string[]
  readonly forwardsBody: boolean
  readonly responseHeaders: readonly string[]
  /** Only the client may cache the response, whatever headers observers add. */
  readonly isPrivate: boolean
  /** Maximum bytes of the response body; -1 for any number. */
  readonly maxBytes: number
  readonly timeout: number
  readonly clientTimeout: number
  /** Milliseconds between comments in an event stream that pauses. */
  readonly heartbeat: number | undefined
  /** Event streams with a heartbeat, which end when the gateway closes. */
  readonly endless: EndlessStreams
  readonly instrumentation: Instrumentation | undefined
}

/** @throws AGGREGATOR_GATEWAY_INVALID_OPTION for a template that cannot be filled in */
export function planPassThrough(
  { method, path: url, timeout, passThrough }: ResolvedPassThroughEndpoint,
  where: string,
  upstreams: ReadonlyMap<string, Upstream>,
  instrumentation: Instrumentation | undefined,
  isAuthenticated: boolean,
): PlannedPassThrough {
  const { upstream, path, headers, forwardHeaders, forwardQuery, forwardBody, clientTimeout } = passThrough
  const { allowEncodedSlash, responseHeaders, maxResponseBytes = -1 } = passThrough
  const template = parseTemplate(path, `${where}.path`, { allowEncodedSlash })
  assertParams(template, url, `${where}.path`)
  assertForwardedQuery(path, forwardQuery, where)
  if (/\{(?:body|calls)[.}]/.test(path)) {
    throw invalidOptionError(`${where}.path`, 'values of params, query, headers, user and claims only', path)
  }
  const headerPlan = planHeaders(headers, {
    // They describe the body.
    forwarded: forwardBody ? [...forwardHeaders, 'content-type', 'content-encoding'] : forwardHeaders,
    isCached: upstreams.get(upstream)!.cache !== undefined,
    where: `${where}.headers`,
  })
  if (headerPlan.templates.some(({ placeholders }) => placeholders.some(({ source }) => source === 'body'))) {
    throw invalidOptionError(`${where}.headers`, 'values of params, query, headers, user and claims only', '{body}')
  }
  return {
    upstream: upstreams.get(upstream)!,
    method: passThrough.method ?? method,
    path: template,
    headers: headerPlan,
    forwardQuery,
    forwardsBody: forwardBody,
    responseHeaders: [...RESPONSE_HEADERS, ...responseHeaders],
    isPrivate: isAuthenticated || dependsOnClient(template, headerPlan),
    maxBytes: maxResponseBytes,
    timeout,
    clientTimeout,
    heartbeat: passThrough.heartbeat,
    endless: new EndlessStreams(),
    instrumentation,
  }
}
