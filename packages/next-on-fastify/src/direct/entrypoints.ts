// The entry points that a build has for its routes, called without the server that renders: each exports a handler, which
// Next documents for those who host an app by themselves.
//
// What the render server does to a request before it calls the handler is done here, with its own methods as far as it has
// them, and so is what it does when a page has failed. Nothing of that is documented, so it is checked: an entry point is
// called if what the render server has left on the first request of a path is what is known here.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { ParsedUrlQuery } from 'node:querystring'
import { types } from 'node:util'
import type { Handle } from '../answer.ts'
import { BeforeRoute, type WrappedRequest, type WrappedResponse } from '../before-route.ts'
import { functionOf, type RequestMeta, type RouteMatch } from '../next-internals.ts'
import type { RouteKind } from './direct-request.ts'

/** Finds what answers the requests of a path, by what the render server has left on the first of them. */
export type FindEntrypoint = (kind: RouteKind, match: RouteMatch, meta: RequestMeta) => Promise<Handle | undefined>

/** What the render server leaves on a request that is the same for all of its path. */
const OF_PATH: ReadonlySet<string> = new Set([
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

/** What it leaves that is of one request: it is made here or by the server's own method, or there for `_rsc` alone. */
const OF_REQUEST: ReadonlySet<string> = new Set([
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

/** What is used of the render server, and of what it uses. */
interface Parts {
  readonly before: BeforeRoute
  readonly setVaryHeader: (request: WrappedRequest, response: WrappedResponse, isAppPath: boolean, path: string) => void
  readonly getWaitUntil: () => unknown
  readonly getMeta: (request: IncomingMessage) => RequestMeta
  /** Renders what is shown in place of a page that has failed like this. */
  readonly renderFailure: (
    cause: unknown,
    request: WrappedRequest,
    response: WrappedResponse,
    path: string,
    query: ParsedUrlQuery,
  ) => Promise<void>
}

/**
 * What is needed to call entry points as the render server does.
 *
 * @throws NotDirect where it is of a version that does that in another way
 */
export function entrypointsOf(server: RenderServer, getMeta: Parts['getMeta']): FindEntrypoint {
  const method = (name: string): unknown => functionOf(server, name).bind(server)
  const parts = {
    before: new BeforeRoute(server, getMeta),
    setVaryHeader: method('setVaryHeader'),
    getWaitUntil: method('getWaitUntil'),
    getMeta,
    renderFailure: failureOf(server),
  } as Parts
  return async (kind, { definition: { filename } }, meta) => {
    const ofPath = ofPathIn(meta)
    const handler = typeof filename === 'string' ? await handlerOf(filename) : undefined
    if (ofPath === undefined || handler === undefined) return undefined
    return (request, response) => call(parts, handler, kind, ofPath, request, response)
  }
}

/** What the server does when a page fails, done by a server of which each page fails like this. */
function failureOf(server: RenderServer): Parts['renderFailure'] {
  const render = functionOf(server, 'render')
  functionOf(server, 'renderPageComponent')
  return async (cause, request, response, path, query) => {
    const failing: object = Object.create(server, { renderPageComponent: { value: () => Promise.reject(cause) } })
    await render.call(failing, request, response, path, query, { pathname: path, query }, true)
  }
}

/** The handler of an entry point that has been loaded: what could not be is not tried again here. */
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

/** What all requests of a path are given alike; nothing where there is something that is not known here. */
function ofPathIn(meta: RequestMeta): RequestMeta | undefined {
  const ofPath: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(meta)) {
    if (OF_REQUEST.has(name) || value === undefined) continue
    if (!OF_PATH.has(name) || typeof value === 'object') return undefined
    ofPath[name] = value
  }
  return ofPath
}

async function call(
  parts: Parts,
  handler: Handler,
  kind: RouteKind,
  ofPath: RequestMeta,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { before } = parts
  const meta = parts.getMeta(request)
  const { invokeQuery = {}, match } = meta
  const path = String(meta.invokePath)
  const params = match?.params
  // Next does so for pages of the one router, and not of the other.
  const query = { ...invokeQuery, ...(kind === 'pages-page' && params) }
  Object.assign(meta, ofPath, { query, params })
  const wrapped = await before.ready(request, request.headers, invokeQuery)
  if (kind === 'app-page' || kind === 'route-handler') {
    parts.setVaryHeader(wrapped, before.wrapResponse(response), true, path)
  }
  if (kind === 'route-handler') holdHead(response)
  try {
    await handler(request, response, { waitUntil: parts.getWaitUntil(), requestMeta: meta })
  } catch (error) {
    if (kind === 'pages-api') throw error
    await parts.renderFailure(error, wrapped, before.wrapResponse(response), path, { ...invokeQuery })
  }
}

/**
 * Lets the head of an answer leave with what else of it is ready in this turn of the event loop. Next sends the head of a
 * route handler's answer by itself: with one write less a small one takes 232 µs of CPU in place of 248.
 */
function holdHead({ socket }: ServerResponse): void {
  // It is given the socket when its turn comes. HTTP/2 gives a proxy of one, which throws once its session is gone.
  if (!socket || types.isProxy(socket)) return
  socket.cork()
  setImmediate(() => socket.uncork())
}
