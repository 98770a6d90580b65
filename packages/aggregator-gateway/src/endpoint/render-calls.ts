// Renders the paths and headers of a request's calls, after the hooks of the request. Coalescing keys are made of nothing
// else, so requests share a response only if their calls send the same.

import type { PlannedCall } from '../call/planned-call.ts'
import { withQuery } from '../request/forwarded-query.ts'
import { eachItem, type ItemPaths, renderItems } from '../request/item-list.ts'
import type { Values } from '../request/placeholders.ts'
import { type Headers, renderHeaders } from '../request/request-headers.ts'
import type { PlannedEndpoint } from './planned-endpoint.ts'

/** The path of a call, or those for the items of its list. */
export type Target = string | ItemPaths

export interface RenderedCalls {
  /** In the order of the endpoint's calls; undefined for dependent calls. */
  readonly targets: readonly (Target | undefined)[]
  /** Undefined for a call that the request excludes by its condition. */
  readonly headers: readonly (Headers | undefined)[]
}

/**
 * Renders the calls of an endpoint.
 *
 * @throws AGGREGATOR_GATEWAY_BAD_PARAMETER, AGGREGATOR_GATEWAY_INVALID_HEADER
 */
export function renderCalls({ calls, instrumentation }: PlannedEndpoint, values: Values): RenderedCalls {
  return {
    targets: calls.map((call) =>
      call.waitsFor === 0 && !isExcluded(call, values) ? renderTarget(call, values) : undefined,
    ),
    headers: calls.map((call, index) =>
      isExcluded(call, values)
        ? undefined
        : renderHeaders(
            call.headers,
            values,
            instrumentation?.observers.callHeaders(instrumentation.calls[index]!, values.request),
          ),
    ),
  }
}

/** Whether the request excludes a call, which needs none of the values in its path and headers then. */
function isExcluded({ condition }: PlannedCall, values: Values): boolean {
  return condition !== undefined && !condition.holdsForRequest(values)
}

/** @throws AGGREGATOR_GATEWAY_BAD_PARAMETER for a value of the client, MissingValueError for a value of a call */
export function renderTarget(call: PlannedCall, values: Values): Target {
  const { path, forwardQuery, items } = call
  if (items) return renderItems(items, values, call)
  const rendered = path.render(values)
  return forwardQuery.length === 0 ? rendered : withQuery(rendered, forwardQuery, values.request.query)
}

/** Stands for a value of a call: no rendered path has this character. */
const CALL_VALUE = '\n'

/**
 * The key of a request: equal for two requests only if their calls send the same. A dependent call is part of the key with
 * the request's own values: those of its path, its headers, its condition, and its list.
 *
 * @throws AGGREGATOR_GATEWAY_BAD_PARAMETER
 */
export function keyOf({ calls }: PlannedEndpoint, { targets, headers }: RenderedCalls, values: Values): string {
  const parts = calls.map((call, index) => {
    const own = headers[index]
    if (!own) return 'excluded'
    return [
      targets[index] ?? targetWithoutCalls(call, values),
      Object.entries(own).toSorted(([one], [other]) => (one < other ? -1 : 1)),
    ]
  })
  return JSON.stringify(parts)
}

/** The target of a dependent call with the values that are known before any call. */
function targetWithoutCalls({ path, items, forwardQuery }: PlannedCall, values: Values): Target {
  const render = (one: Values): string =>
    withQuery(path.renderWithout(CALL_VALUE, one), forwardQuery, values.request.query)
  return items && !items.placeholder.isOfCall ? eachItem(items, values, render) : render(values)
}
