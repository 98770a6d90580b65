// Calls the entry points that a build has for its routes, without the render server. Next documents their `handler` for
// custom hosting. What the render server does before that call, and after a failure, is undocumented and repeated here.
// So an entry point is called only if the first request of its path carries the expected metadata.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { ParsedUrlQuery } from 'node:querystring'
import { types } from 'node:util'
import { RequestPreparation, type WrappedRequest, type WrappedResponse } from '../request-preparation.ts'
import type { NextHandler } from '../handler-types.ts'
import { type InServerSpan, inServerSpanOf } from '../server-spans.ts'
import { functionOf, type RequestMeta, type RouteMatch } from '../internals.ts'
import type { RouteKind } from '../build/direct-routes.ts'

/** Finds the entry point of a path, by the metadata that the render server left on its first request. */
export type FindEntrypoint = (kind: RouteKind, match: RouteMatch, meta: RequestMeta) => Promise<NextHandler | undefined>

/** Metadata of the render server that is the same for all requests of a path. */
const PATH_META: ReadonlySet<string> = new Set([
  'bubbleNoFallback',
  'defaultLocale',
  'distDir',
  'hmrRefreshHash',
  'invokeOutput',
  'invokePath',
  'isLocaleDomain',
  'middlewareInvoke',
  'minimalMode',
  'relativeProjectDir',
  'serverComponentsHmrCache',
])

/** Metadata of one request. It is made here or by the server's own method, or exists only for `_rsc`. */
const REQUEST_META: ReadonlySet<string> = new Set([
  'cacheBustingSearchParam',
  'clonableBody',
  'incrementalCache',
  'initProtocol',
  'initQuery',
  'initURL',
  'invokeQuery',
  'match',
  'params',
  'query',
])

type RenderServer = Readonly<Record<string, unknown>>

type Handler = (request: IncomingMessage, response: ServerResponse, context: object) => Promise<unknown>

/** The used parts of the render server and of its dependencies. */
interface Parts {
  readonly preparation: RequestPreparation
  readonly inServerSpan: InServerSpan
  readonly setVaryHeader: (request: WrappedRequest, response: WrappedResponse, isAppPath: boolean, path: string) => void
  readonly getWaitUntil: () => unknown
  readonly getMeta: (request: IncomingMessage) => RequestMeta
  /** Renders the error page for a page that has failed like this. */
  readonly renderFailure: (
    cause: unknown,
    request: WrappedRequest,
    response: WrappedResponse,
    path: string,
    query: ParsedUrlQuery,
  ) => Promise<void>
}

/**
 * Prepares to call entry points as the render server does.
 *
 * @throws UnsupportedNextError for a Next version that does so in another way
 */
export function entrypointsOf(server: RenderServer, getMeta: Parts['getMeta']): FindEntrypoint {
  const method = (name: string): unknown => functionOf(server, name).bind(server)
  const parts = {
    preparation: new RequestPreparation(server, getMeta),
    inServerSpan: inServerSpanOf(server),
    setVaryHeader: method('setVaryHeader'),
    getWaitUntil: method('getWaitUntil'),
    getMeta,
    renderFailure: failureOf(server),
  } as Parts
  return async (kind, { definition: { filename } }, meta) => {
    const pathMeta = pathMetaOf(meta)
    const handler = typeof filename === 'string' ? await handlerOf(filename) : undefined
    if (pathMeta === undefined || handler === undefined) return undefined
    return (request, response) =>
      parts.inServerSpan(request, response, () => call(parts, handler, kind, pathMeta, request, response))
  }
}

/** Handles a failed page as the server does: renders on a server whose every page fails like this. */
function failureOf(server: RenderServer): Parts['renderFailure'] {
  const render = functionOf(server, 'render')
  functionOf(server, 'renderPageComponent')
  return async (cause, request, response, path, query) => {
    const failing: object = Object.create(server, { renderPageComponent: { value: () => Promise.reject(cause) } })
    await render.call(failing, request, response, path, query, { pathname: path, query }, true)
  }
}

/** The handler of a loaded entry point. One that failed to load is not tried again here. */
async function handlerOf(filename: string): Promise<Handler | undefined> {
  const module = createRequire(filename).cache[filename]
  if (module?.loaded !== true) return undefined
  try {
    const { handler } = (await module.exports) as { handler?: unknown }
    return typeof handler === 'function' ? (handler as Handler) : undefined
  } catch {
    return undefined
  }
}

/** The metadata shared by all requests of a path, or undefined if a field is unknown. */
function pathMetaOf(meta: RequestMeta): RequestMeta | undefined {
  const pathMeta: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(meta)) {
    if (REQUEST_META.has(name) || value === undefined) continue
    if (!PATH_META.has(name) || typeof value === 'object') return undefined
    pathMeta[name] = value
  }
  return pathMeta
}

async function call(
  parts: Parts,
  handler: Handler,
  kind: RouteKind,
  pathMeta: RequestMeta,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { preparation } = parts
  const meta = parts.getMeta(request)
  const { invokeQuery = {}, match } = meta
  const path = String(meta.invokePath)
  const params = match?.params
  // Next does so for pages of the Pages Router only.
  const query = { ...invokeQuery, ...(kind === 'pages-page' && params) }
  Object.assign(meta, pathMeta, { query, params })
  const wrapped = await preparation.prepare(request, request.headers, invokeQuery)
  if (kind === 'app-page' || kind === 'route-handler') {
    parts.setVaryHeader(wrapped, preparation.wrapResponse(response), true, path)
  }
  if (kind === 'route-handler') holdHead(response)
  try {
    await handler(request, response, { waitUntil: parts.getWaitUntil(), requestMeta: meta })
  } catch (error) {
    if (kind === 'pages-api') throw error
    await parts.renderFailure(error, wrapped, preparation.wrapResponse(response), path, { ...invokeQuery })
  }
}

/**
 * Writes the head of a route handler's response together with the rest of the same event-loop tick. Next would send the
 * head by itself: with one write less, a small response takes 6 % less CPU. See docs/measurements.md#head-with-body
 */
function holdHead({ socket }: ServerResponse): void {
  // A pipelined response has no socket yet. HTTP/2 gives a proxy of one, which throws once its session is gone.
  if (!socket || types.isProxy(socket)) return
  socket.cork()
  setImmediate(() => socket.uncork())
}
