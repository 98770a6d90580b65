// The server behind Next's router, which renders routed requests. Next routes the first request of a path. Its decision is
// replayed for later requests, unless a middleware matcher or a rule of the configuration could send them elsewhere.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { ParsedUrlQuery } from 'node:querystring'
import type { FastifyBaseLogger } from 'fastify'
import type { CompressionMiddleware, NextHandler, RequestHandler } from '../next/handler-types.ts'
import type { RouteMatch } from '../next/internals.ts'
import { loadNextParts, type NextParts } from '../next/rendering/load-next-parts.ts'
import { isKind, type NotRouted, readRoutes, type RouteKind } from '../next/build/direct-routes.ts'
import { type RouteDecision, routeDecision } from './router-decision.ts'

/** The route of a path, and how to render it. */
export interface Routed extends RouteDecision {
  /** The entry point of the build for the route, if it can be called without the render server. */
  readonly entrypoint: RequestHandler | undefined
}

/** The render server of an app, and the routes of its build. */
export interface RenderServer {
  /** Why no route of a path can be rendered directly. Undefined if one may be. */
  notRouted(path: string): NotRouted | undefined
  /** Where Next's router sent this served request. Undefined if its metadata does not show it. */
  routed(path: string, request: IncomingMessage, response: ServerResponse): Promise<Routed | NotRouted | undefined>
  /** Renders a request for such a path, by the given entry point or by the render server. */
  render(
    to: Routed,
    entrypoint: RequestHandler | undefined,
    query: ParsedUrlQuery,
    ...args: Parameters<RequestHandler>
  ): Promise<void>
}

/**
 * Finds the render server of a prepared app.
 *
 * @throws UnsupportedNextError when direct rendering must stay off
 */
export async function findRenderServer(
  dir: string,
  next: object,
  kinds: ReadonlySet<RouteKind>,
  wrap: (handle: NextHandler) => RequestHandler,
  log: FastifyBaseLogger,
  compression?: CompressionMiddleware,
): Promise<RenderServer> {
  const parts = await loadNextParts(dir, next, log, compression)
  const byServer = wrap(parts.handle)
  const routes = readRoutes(join(dir, parts.config.distDir), kinds)
  return {
    notRouted(path) {
      const kind = routes.kinds.get(path) ?? 'route'
      return routes.hasParameters || isKind(kind) ? undefined : kind
    },
    routed: async (path, request, response) => {
      const decision = routeDecision(parts, routes, path, request, response)
      if (decision === undefined || typeof decision === 'string') return decision
      const { kind, match } = decision
      const entrypoint = match && (await parts.entrypointOf?.(kind, match, parts.getMeta(request)))
      return { ...decision, entrypoint: entrypoint && wrap(entrypoint) }
    },
    render: (to, serve = byServer, ...rest) => render(parts, log, to, serve, ...rest),
  }
}

async function render(
  { handle, getMeta, setMeta, isAbortError, compress, release }: NextParts,
  log: FastifyBaseLogger,
  { path, route, relativeProjectDir, match }: Routed,
  serve: RequestHandler,
  query: ParsedUrlQuery,
  ...[request, response, fastifyRequest]: Parameters<RequestHandler>
): Promise<void> {
  // From here on, the same as in Next's router.
  if (compress !== undefined) {
    compress(request, response, ignore)
    if (release !== undefined) response.once('close', () => void (response.writableFinished || release(response)))
  }
  request.on('error', ignore)
  response.on('error', ignore)
  if (response.closed) return
  setMeta(request, {
    invokePath: path,
    invokeQuery: query,
    middlewareInvoke: false,
    invokeOutput: route,
    ...(relativeProjectDir !== undefined && { relativeProjectDir }),
    ...(match !== undefined && { match: copyOf(match) }),
  })
  try {
    await serve(request, response, fastifyRequest)
  } catch (error) {
    if (isAbortError(error)) return
    // The render server itself responds to failures in a route. If that has failed, its error page is requested, and
    // the route does not run again.
    // The caller logs an error that it gets.
    if (response.headersSent) throw error
    log.error({ err: error }, 'Next failed')
    response.statusCode = 500
    setMeta(request, { ...getMeta(request), invokePath: '/500', invokeQuery: {}, invokeStatus: 500 })
    await handle(request, response)
  }
}

/**
 * Cloned, because an app may change its parameters. Most routes have none, and cloning nothing took 2 % of a profile.
 * See docs/measurements.md#empty-parameters
 */
function copyOf({ definition, params }: RouteMatch): RouteMatch {
  return { definition, params: params && structuredClone(params) }
}

function ignore(): void {}
