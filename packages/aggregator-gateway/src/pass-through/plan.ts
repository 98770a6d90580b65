// Prepares a pass-through endpoint.

import { InvalidOptionError } from '../errors.ts'
import type { Method } from '../http/methods.ts'
import type { Instrumentation } from '../observability/observers.ts'
import type { PassThroughEndpointOptions } from '../options/endpoint-options.ts'
import { assertParams, parseTemplate, type PathTemplate } from '../request/path-template.ts'
import { type HeaderPlan, planHeaders } from '../request/request-headers.ts'
import type { Upstream } from '../upstream/upstream.ts'

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
  /** Maximum bytes of the response body; -1 for any number. */
  readonly maxBytes: number
  readonly timeout: number
  readonly clientTimeout: number
  readonly instrumentation: Instrumentation | undefined
}

/** @throws GATEWAY_INVALID_OPTION for a template that cannot be filled in */
export function planPassThrough(
  { method = 'GET', path: url, timeout = 2000, passThrough }: PassThroughEndpointOptions,
  where: string,
  upstreams: ReadonlyMap<string, Upstream>,
  instrumentation: Instrumentation | undefined,
): PlannedPassThrough {
  const { upstream, path, headers = {}, forwardHeaders = [], forwardQuery = [], forwardBody = false } = passThrough
  const { answerHeaders = [], clientTimeout = 60_000, maxResponseSize = -1, allowEncodedSlash = false } = passThrough
  const template = parseTemplate(path, `${where}.path`, { allowEncodedSlash })
  assertParams(template, url, `${where}.path`)
  if (/\{(?:body|calls)[.}]/.test(path)) {
    throw new InvalidOptionError(
      `Expected \`${where}.path\` to take params, query, headers and user alone, got "${path}"`,
    )
  }
  const headerPlan = planHeaders(headers, {
    // They describe the body.
    forwarded: forwardBody ? [...forwardHeaders, 'content-type', 'content-encoding'] : forwardHeaders,
    where: `${where}.headers`,
  })
  if (headerPlan.templates.some(({ placeholders }) => placeholders.some(({ source }) => source === 'body'))) {
    throw new InvalidOptionError(
      `Expected \`${where}.headers\` to take params, query, headers and user alone, got {body}`,
    )
  }
  return {
    upstream: upstreams.get(upstream)!,
    method: passThrough.method ?? method,
    path: template,
    headers: headerPlan,
    forwardQuery,
    forwardsBody: forwardBody,
    responseHeaders: [...RESPONSE_HEADERS, ...answerHeaders],
    maxBytes: maxResponseSize,
    timeout,
    clientTimeout,
    instrumentation,
  }
}
