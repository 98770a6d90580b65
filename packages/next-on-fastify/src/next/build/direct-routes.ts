// The routes of a build, by its manifests: which of them can be rendered directly.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { patternsOf, type RoutesManifest, rulesOf } from './route-rules.ts'

/** The kind of a route. */
export type RouteKind = 'app-page' | 'pages-api' | 'pages-page' | 'route-handler'

/** Why only Next's router can serve a path. */
export type NotRouted = 'prerendered' | 'proxy' | 'route' | 'rule'

/** The used parts of the build's manifests. */
export interface Routes {
  /** Routes by name: their kind, or why they cannot be rendered directly. */
  readonly kinds: ReadonlyMap<string, RouteKind | NotRouted>
  readonly prerendered: ReadonlySet<string>
  readonly hasParameters: boolean
  readonly rules: readonly RegExp[]
  readonly matchers: readonly RegExp[]
}

type Kinds = Map<string, RouteKind | NotRouted>

type ReadManifest = (name: string) => unknown

interface Middleware {
  readonly matchers?: readonly { readonly regexp: string }[]
}

interface MiddlewareManifest {
  readonly middleware: Readonly<Record<string, Middleware>>
  readonly functions: Readonly<Record<string, { readonly page: string }>>
}

interface PrerenderManifest {
  readonly routes: Readonly<Record<string, { readonly srcRoute: string | null }>>
  readonly dynamicRoutes: Readonly<Record<string, unknown>>
}

/** Pages that only Next itself requests. */
const INTERNAL_PAGES = new Set(['/_app', '/_document', '/_error', '/404', '/500'])

/** Reads the routes of a build, of which those of the wanted kinds can be rendered directly. */
export function readRoutes(distDir: string, wanted: ReadonlySet<RouteKind>): Routes {
  const manifest: ReadManifest = (name) => JSON.parse(readFileSync(join(distDir, name), 'utf8'))
  // An app with only pages has no such file.
  const appRoutes = existsSync(join(distDir, 'app-path-routes-manifest.json'))
    ? (manifest('app-path-routes-manifest.json') as Readonly<Record<string, string>>)
    : {}
  const edge = manifest('server/middleware-manifest.json') as MiddlewareManifest
  const prerender = manifest('prerender-manifest.json') as PrerenderManifest
  const kinds = nodeRoutes(manifest, appRoutes, wanted)
  // Functions of the edge runtime run in a sandbox of their own.
  for (const [name, { page }] of Object.entries(edge.functions)) {
    for (const entry of [name, page]) kinds.set(appRoutes[entry] ?? entry, 'route')
  }
  const sources = Object.values(prerender.routes).flatMap(({ srcRoute }) => srcRoute ?? [])
  for (const route of [...Object.keys(prerender.routes), ...Object.keys(prerender.dynamicRoutes), ...sources]) {
    kinds.set(route, 'prerendered')
  }
  const { rewrites, others } = rulesOf(manifest('routes-manifest.json') as RoutesManifest)
  return {
    kinds,
    prerendered: new Set(Object.keys(prerender.routes)),
    hasParameters: [...kinds].some(([route, kind]) => route.includes('[') && isKind(kind)),
    rules: patternsOf([...others, ...rewrites].map(({ regex }) => regex)),
    matchers: middlewareMatchers(manifest, edge),
  }
}

/** Whether a route is of a kind that can be rendered directly. */
export function isKind(kind: RouteKind | NotRouted | undefined): kind is RouteKind {
  return kind !== undefined && kind !== 'prerendered' && kind !== 'proxy' && kind !== 'route' && kind !== 'rule'
}

function nodeRoutes(
  manifest: ReadManifest,
  appRoutes: Readonly<Record<string, string>>,
  wanted: ReadonlySet<RouteKind>,
): Kinds {
  const kinds: Kinds = new Map()
  const add = (route: string, kind: RouteKind): void => {
    // If a route has two entry points, Next has to choose.
    kinds.set(route, kinds.has(route) || !wanted.has(kind) || isIntercepting(route) ? 'route' : kind)
  }
  const pages = manifest('server/pages-manifest.json') as Readonly<Record<string, string>>
  for (const [route, file] of Object.entries(pages)) {
    if (/^\/api(?:\/|$)/.test(route)) add(route, 'pages-api')
    else if (file.endsWith('.js') && !INTERNAL_PAGES.has(route)) add(route, 'pages-page')
  }
  for (const [entry, route] of Object.entries(appRoutes)) {
    if (!route.startsWith('/_')) add(route, entry.endsWith('/route') ? 'route-handler' : 'app-page')
  }
  return kinds
}

/** Whether another page shows this route within itself. */
function isIntercepting(route: string): boolean {
  return route.includes('/(.')
}

function middlewareMatchers(manifest: ReadManifest, edge: MiddlewareManifest): RegExp[] {
  const node = manifest('server/functions-config-manifest.json') as { functions: Record<string, Middleware> }
  const nodeMiddleware = node.functions['/_middleware']
  const all = [...Object.values(edge.middleware), ...(nodeMiddleware === undefined ? [] : [nodeMiddleware])]
  return patternsOf(all.flatMap(matchersOf))
}

/** Middleware without matchers sees all paths. */
function matchersOf({ matchers = [{ regexp: '' }] }: Middleware): string[] {
  return matchers.map(({ regexp }) => regexp)
}
