// What the calls of a request send, as far as the request decides it. It is rendered after the hooks of the request: so are
// the keys by which requests share a response, which are made of nothing else.

import type { PlannedEndpoint } from './endpoint-request.ts'
import type { PlannedCall } from '../call/call.ts'
import { type Headers, renderHeaders } from '../request/request-headers.ts'
import { withQuery } from '../request/forwarded-query.ts'
import type { Values } from '../request/placeholders.ts'

export interface RenderedCalls {
  /** In the order of the endpoint's calls; nothing for those that wait for others. */
  readonly paths: readonly (string | undefined)[]
  readonly headers: readonly Headers[]
}

/**
 * Renders the calls of an endpoint.
 *
 * @throws GATEWAY_BAD_PARAMETER, GATEWAY_INVALID_HEADER
 */
export function renderCalls({ calls, observing }: PlannedEndpoint, values: Values): RenderedCalls {
  return {
    paths: calls.map((call) => (call.waitsFor === 0 ? renderPath(call, values) : undefined)),
    headers: calls.map(({ headers }, index) =>
      renderHeaders(headers, values, observing?.observers.callHeaders(observing.calls[index]!, values.request)),
    ),
  }
}

/** @throws GATEWAY_BAD_PARAMETER for a value of the client, MissingValueError for a value of a call */
export function renderPath({ path, forwardQuery }: PlannedCall, values: Values): string {
  const rendered = path.render(values)
  return forwardQuery.length === 0 ? rendered : withQuery(rendered, forwardQuery, values.request.query)
}

/** A character that no rendered path has, in place of what a call will bring. */
const OF_CALL = '\n'

/**
 * The key of a request: equal for two requests only if their calls send the same. Calls that wait for others count with
 * what the request gives them.
 *
 * @throws GATEWAY_BAD_PARAMETER
 */
export function keyOf({ calls }: PlannedEndpoint, { paths, headers }: RenderedCalls, values: Values): string {
  const ofRequest = calls.map((call, index) => [
    paths[index] ?? withQuery(call.path.renderWithout(OF_CALL, values), call.forwardQuery, values.request.query),
    Object.entries(headers[index]!).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  ])
  return JSON.stringify(ofRequest)
}
