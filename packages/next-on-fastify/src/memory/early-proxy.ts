// The proxy of a request, run before Next's router is asked, for the router takes as long as the proxy itself.
//
// It is run by the method of the render server that Next runs it by, for the same request, seen with the same headers. If it
// turns out that Next has to answer, the request goes its usual way, and where Next comes to run the proxy it is given what
// that has decided: it runs once for each request, however that is answered. None of this is public. Where a method is
// missing, Next runs the proxy in its place.
//
// Not decided here is which requests these are: of each, Next's router must have been seen to run the proxy.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answer } from '../answer.ts'
import { whileAsked } from '../asked-request.ts'
import { BeforeRoute, mayEnter, type WrappedRequest } from '../before-route.ts'
import { isPlainPath, pathOf, queryOf } from '../direct/direct-request.ts'
import { functionOf, type RequestMeta } from '../next-internals.ts'

/** What a proxy has come to, as Next has it. */
export interface ProxyResult {
  readonly response?: Response
}

/** Runs the proxy of a request; nothing comes of it where that is left to Next, or has failed, which Next will find too. */
export type EarlyProxy = (...asking: Parameters<Answer>) => Promise<ProxyResult | undefined>

/** How Next keeps what it knows of a request, which is the same for its own request and for that of Node. */
export interface MetaStore {
  readonly getRequestMeta: (request: IncomingMessage | WrappedRequest) => Meta
  readonly setRequestMeta: (request: IncomingMessage, meta: Meta) => unknown
}

/** What a proxy will have come to, beside what Next knows of its request. */
const STARTED: unique symbol = Symbol('next-on-fastify.proxy')

interface Meta extends RequestMeta {
  [STARTED]?: Promise<ProxyResult> | undefined
}

interface Params {
  readonly request: WrappedRequest
}

/** The render server, of which three methods are replaced: Next calls them by their names. */
type Server = Record<string, unknown>

/**
 * What runs the proxy of an app, by its render server, of which this may be asked once.
 *
 * @throws NotDirect where that is of a version that does it in another way
 */
export function earlyProxyOf(server: Server, store: MetaStore): EarlyProxy {
  const { getRequestMeta, setRequestMeta } = store
  functionOf({ setRequestMeta }, 'setRequestMeta')
  const before = new BeforeRoute(server, getRequestMeta)
  const runMiddleware = functionOf(server, 'runMiddleware')
  const load = functionOf(server, 'loadNodeMiddleware')
  const manifestOf = functionOf(server, 'getMiddlewareManifest')

  let loaded: unknown
  let manifest: unknown
  Object.assign(server, {
    // Next requires their files each time, nine for each request: that is 14 of 160 µs.
    loadNodeMiddleware: async () => (loaded ??= await load.call(server)),
    getMiddlewareManifest: () => (manifest ??= manifestOf.call(server)),
    runMiddleware: async (params: Params) => {
      // Its request has the one of Node, too, and changes that one when it is asked for it.
      const meta = getRequestMeta(params.request)
      const started = meta[STARTED]
      // What Next then does not find, it looks for once more, with the proxy.
      delete meta[STARTED]
      return started ?? runMiddleware.call(server, params)
    },
  })

  return whileAsked(async (request: IncomingMessage, response: ServerResponse) => {
    const { url = '', headers } = request
    const path = pathOf(url)
    const query = queryOf(url)
    if (query === undefined || !isPlainPath(path) || !mayEnter(request, query)) return undefined
    try {
      const meta: Meta = {}
      setRequestMeta(request, meta)
      // Next's router does not see what the render server adds to them.
      const ready = await before.ready(request, { ...headers }, query)
      if (getRequestMeta(ready) !== meta) return undefined
      const parsed = { pathname: path, query }
      const params = { request: ready, response: before.wrapResponse(response), parsedUrl: parsed, parsed }
      const result = runMiddleware.call(server, params) as Promise<ProxyResult>
      meta[STARTED] = result
      return await result
    } catch {
      return undefined
    }
  })
}
