// Reads where Next's router sent a request, and decides whether that holds for all plain requests of its path.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { Params, RouteMatch } from '../next/internals.ts'
import type { NextParts } from '../next/rendering/load-next-parts.ts'
import { isKind, type NotRouted, type Routes, type RouteKind } from '../next/build/direct-routes.ts'

/** The route of a path, by the decision of Next's router. */
export interface RouteDecision {
  readonly kind: RouteKind
  readonly path: string
  /** The route, with its parameters by name. */
  readonly route: string
  readonly relativeProjectDir: string | undefined
  readonly match: RouteMatch | undefined
}

/** Where the router sent a served request. Undefined if the request's metadata does not show it. */
export function routeDecision(
  { getMeta, matchOf }: NextParts,
  { kinds, prerendered, rules, matchers }: Routes,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): RouteDecision | NotRouted | undefined {
  const { invokePath, invokeOutput: route, invokeStatus, middlewareInvoke, ...meta } = getMeta(request)
  // A file or a missing page: no route is at this path.
  if (invokePath !== path || typeof route !== 'string' || invokeStatus !== undefined || middlewareInvoke !== false) {
    return undefined
  }
  const kind = kinds.get(route) ?? 'route'
  if (!isKind(kind)) return kind
  if (prerendered.has(path) || response.hasHeader('x-nextjs-cache') || response.hasHeader('x-nextjs-prerender')) {
    return 'prerendered'
  }
  if (rules.some((rule) => rule.test(path))) return 'rule'
  if (matchers.some((matcher) => matcher.test(path))) return 'proxy'
  // A rewrite leads to a route with another path.
  if (!route.includes('[') && route !== path) return 'route'

  const { relativeProjectDir } = meta
  if (matchOf === undefined) return { kind, path, route, relativeProjectDir, match: undefined }
  const match = matchOf(path)
  return match !== null && match.definition.pathname === route && isSameMatch(match, meta.match)
    ? { kind, path, route, relativeProjectDir, match }
    : 'route'
}

/**
 * Whether the render server finds the same route and parameters as the router. Lists are not compared, because the app may
 * have changed them.
 */
function isSameMatch(match: RouteMatch, routerMatch: RouteMatch | undefined): boolean {
  return (
    routerMatch !== undefined &&
    match.definition.page === routerMatch.definition.page &&
    match.definition.kind === routerMatch.definition.kind &&
    isDeepStrictEqual(withoutLists(match.params), withoutLists(routerMatch.params))
  )
}

function withoutLists(params: Params = {}): Params {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, Array.isArray(value) ? [] : value]))
}
