// Runs middleware (`proxy.ts`) before Next's router, which takes as long as the middleware itself. The caller must have
// seen that the router runs middleware for such requests. If Next has to respond after all, it gets this result, so
// middleware runs once per request. The methods are undocumented: if one is missing, Next runs the middleware.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { withCurrentRequest } from '../../async-context/current-request.ts'
import { isTraced } from '../server-spans.ts'
import { canSkipRenderServer, RequestPreparation, type WrappedRequest } from '../request-preparation.ts'
import type { RequestHandler } from '../handler-types.ts'
import { functionOf, type RequestMeta } from '../internals.ts'
import { isPlainPath, pathOf, queryOf } from '../plain-url.ts'

/** The result of middleware, as Next has it. */
export interface MiddlewareResult {
  readonly response?: Response
}

/**
 * Runs middleware for a request. The result is undefined if Next must run it, or if it failed, which Next then notices,
 * too.
 */
export type EarlyMiddleware = (...args: Parameters<RequestHandler>) => Promise<MiddlewareResult | undefined>

/** Next's store of request metadata, shared by its own request and Node's. */
export interface MetaStore {
  readonly getRequestMeta: (request: IncomingMessage | WrappedRequest) => Meta
  readonly setRequestMeta: (request: IncomingMessage, meta: Meta) => unknown
}

/** The pending result of middleware, beside Next's metadata of the request. */
const STARTED: unique symbol = Symbol('next-on-fastify.middleware')

interface Meta extends RequestMeta {
  [STARTED]?: Promise<MiddlewareResult> | undefined
}

interface Params {
  readonly request: WrappedRequest
}

/** The render server. Three of its methods are replaced: Next calls them by name. */
type Server = Record<string, unknown>

/**
 * Makes the function that runs middleware, from the render server of an app. Call it once per server.
 *
 * @throws UnsupportedNextError for a Next version that runs middleware in another way
 */
export function earlyMiddlewareOf(server: Server, store: MetaStore): EarlyMiddleware {
  const { getRequestMeta, setRequestMeta } = store
  functionOf({ setRequestMeta }, 'setRequestMeta')
  const preparation = new RequestPreparation(server, getRequestMeta)
  const runMiddleware = functionOf(server, 'runMiddleware')
  const load = functionOf(server, 'loadNodeMiddleware')
  const manifestOf = functionOf(server, 'getMiddlewareManifest')

  let loaded: unknown
  let manifest: unknown
  Object.assign(server, {
    // Next requires their nine files for each request: 14 µs of CPU. See docs/measurements.md#middleware-files
    loadNodeMiddleware: async () => (loaded ??= await load.call(server)),
    getMiddlewareManifest: () => (manifest ??= manifestOf.call(server)),
    runMiddleware: async (params: Params) => {
      // Next's request wraps Node's request, and changes that one on access.
      const meta = getRequestMeta(params.request)
      const started = meta[STARTED]
      // If Next then finds no route, it looks once more, and runs middleware again.
      delete meta[STARTED]
      return started ?? runMiddleware.call(server, params)
    },
  })

  return withCurrentRequest(async (request: IncomingMessage, response: ServerResponse) => {
    const { url = '', headers } = request
    const path = pathOf(url)
    const query = queryOf(url)
    if (query === undefined || !isPlainPath(path) || !canSkipRenderServer(request, query)) return undefined
    // Next's router creates the span in which middleware runs.
    if (isTraced()) return undefined
    try {
      const meta: Meta = {}
      setRequestMeta(request, meta)
      // A copy: Next's router does not see the headers that the render server adds.
      const ready = await preparation.prepare(request, { ...headers }, query)
      if (getRequestMeta(ready) !== meta) return undefined
      const parsed = { pathname: path, query }
      const params = { request: ready, response: preparation.wrapResponse(response), parsedUrl: parsed, parsed }
      const result = runMiddleware.call(server, params) as Promise<MiddlewareResult>
      meta[STARTED] = result
      return await result
    } catch {
      return undefined
    }
  })
}
