// Renders the paths and headers of a request's calls, after the hooks of the request. Coalescing keys are made of nothing
// else, so requests share a response only if their calls send the same.

import type { PlannedCall } from '../call/planned-call.ts'
import { withQuery } from '../request/forwarded-query.ts'
import type { Values } from '../request/placeholders.ts'
import { type Headers, renderHeaders } from '../request/request-headers.ts'
import type { PlannedEndpoint } from './planned-endpoint.ts'

export interface RenderedCalls {
  /** In the order of the endpoint's calls; undefined for dependent calls. */
  readonly paths: readonly (string | undefined)[]
  readonly headers: readonly Headers[]
}

/**
 * Renders the calls of an endpoint.
 *
 * @throws AGGREGATOR_GATEWAY_BAD_PARAMETER, AGGREGATOR_GATEWAY_INVALID_HEADER
 */
export function renderCalls({ calls, instrumentation }: PlannedEndpoint, values: Values): RenderedCalls {
  return {
    paths: calls.map((call) => (call.waitsFor === 0 ? renderPath(call, values) : undefined)),
    headers: calls.map(({ headers }, index) =>
      renderHeaders(
        headers,
        values,
        instrumentation?.observers.callHeaders(instrumentation.calls[index]!, values.request),
      ),
    ),
  }
}

/** @throws AGGREGATOR_GATEWAY_BAD_PARAMETER for a value of the client, MissingValueError for a value of a call */
export function renderPath({ path, forwardQuery }: PlannedCall, values: Values): string {
  const rendered = path.render(values)
  return forwardQuery.length === 0 ? rendered : withQuery(rendered, forwardQuery, values.request.query)
}

/** Stands for a value of a call: no rendered path has this character. */
const CALL_VALUE = '\n'

/**
 * The key of a request: equal for two requests only if their calls send the same. A dependent call is part of the key with
 * the request's own values.
 *
 * @throws AGGREGATOR_GATEWAY_BAD_PARAMETER
 */
export function keyOf({ calls }: PlannedEndpoint, { paths, headers }: RenderedCalls, values: Values): string {
  const parts = calls.map((call, index) => [
    paths[index] ?? withQuery(call.path.renderWithout(CALL_VALUE, values), call.forwardQuery, values.request.query),
    Object.entries(headers[index]!).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  ])
  return JSON.stringify(parts)
}
