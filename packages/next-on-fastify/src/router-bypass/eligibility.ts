// Decides by the method and the headers of a request whether its route can be rendered directly.

import type { IncomingMessage } from 'node:http'
import type { RouteKind } from '../next/build/direct-routes.ts'
import { isOfNext, NEXT_COOKIES, RSC_REQUEST_HEADERS } from '../next/request-headers.ts'

/** Why a request must go through Next's router. */
export type IneligibleReason = 'draft' | 'header' | 'method' | 'protocol' | 'query' | 'url'

const HANDLER_METHODS: ReadonlySet<string> = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'])
// Other methods on pages are server actions.
const PAGE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD'])
const ROUTER_HEADER_SET: ReadonlySet<string> = new Set(RSC_REQUEST_HEADERS)

/** Why a request cannot go to a route of this kind, or to any route, directly. Undefined if it can. */
export function ineligible(request: IncomingMessage, kind?: RouteKind): IneligibleReason | undefined {
  if (request.httpVersion !== '1.1') return 'protocol'
  const methods = kind === 'app-page' || kind === 'pages-page' ? PAGE_METHODS : HANDLER_METHODS
  if (!methods.has(request.method ?? '')) return 'method'
  const { headers } = request
  for (const name in headers) {
    if (name === 'cookie') {
      if (NEXT_COOKIES.test(String(headers.cookie))) return 'draft'
    } else if (ROUTER_HEADER_SET.has(name)) {
      if (kind !== 'app-page') return 'header'
    } else if (name === 'expect' || name === 'upgrade' || isOfNext(name)) {
      return 'header'
    }
  }
  return undefined
}
