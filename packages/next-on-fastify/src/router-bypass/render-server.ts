// The server behind Next's router server, which renders routed requests. Both are undocumented: all used parts are in
// this file, or in `entrypoints.ts`, and if one is missing, there is no direct rendering. Next routes the first request
// of a path. Its decision is replayed for later requests, unless a middleware matcher or a rule of the configuration
// could send them elsewhere.

import { existsSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { ParsedUrlQuery } from 'node:querystring'
import { isDeepStrictEqual } from 'node:util'
import type { FastifyBaseLogger } from 'fastify'
import { patternsOf, type RoutesManifest, rulesOf } from '../next/route-rules.ts'
import type { Answer, Handle } from '../next/handler.ts'
import type { RouteKind } from './eligibility.ts'
import { entrypointsOf, type FindEntrypoint } from './entrypoints.ts'
import { functionOf, NotDirect, type Params, type RequestMeta, type RouteMatch } from '../next/internals.ts'

/** Where the router server sends all plain requests for a path. */
export interface Routed {
  readonly kind: RouteKind
  readonly path: string
  /** The route, with its parameters by name. */
  readonly route: string
  readonly relativeProjectDir: string | undefined
  readonly match: RouteMatch | undefined
  /** The entry point of the build for the route, if it can be called without the render server. */
  readonly entrypoint: Answer | undefined
}

/** Why only the router server can serve a path. */
export type NotRouted = 'prerendered' | 'proxy' | 'route' | 'rule'

/** The render server of an app, and the routes of its build. */
export interface RenderServer {
  /** Whether a path may have a route that can be rendered directly. */
  mayRoute(path: string): boolean
  /** Where the router server sent this served request, or undefined if its metadata does not show it. */
  routed(path: string, request: IncomingMessage, response: ServerResponse): Promise<Routed | NotRouted | undefined>
  /** Renders a request for such a path, by the given entry point or by the render server. */
  render(
    to: Routed,
    entrypoint: Answer | undefined,
    query: ParsedUrlQuery,
    ...asking: Parameters<Answer>
  ): Promise<void>
}

interface Config {
  readonly distDir: string
  readonly compress?: boolean
  readonly basePath?: string
  readonly i18n?: unknown
  readonly trailingSlash?: boolean
  readonly skipTrailingSlashRedirect?: boolean
  readonly cacheComponents?: boolean
  readonly output?: string
  readonly experimental?: Readonly<Record<string, unknown>>
}

/** Loads a module of the app's Next, by its path in `next/dist`. */
type Load = (path: string) => Record<string, unknown>

type Compress = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

/** The used parts of Next's modules. */
interface Parts {
  readonly config: Config
  readonly handle: Handle
  readonly getMeta: (request: IncomingMessage) => RequestMeta
  readonly setMeta: (request: IncomingMessage, meta: RequestMeta) => unknown
  readonly isAbortError: (error: unknown) => boolean
  /** Finds the route and the parameters of a path. Undefined for versions that look them up themselves. */
  readonly matchOf: ((path: string) => RouteMatch | null) | undefined
  readonly entrypointOf: FindEntrypoint | undefined
  readonly compress: Compress | undefined
  /** Releases the compression of a response whose client has left. Older versions do not. */
  readonly release: ((response: ServerResponse) => void) | undefined
}

/** The used parts of the build's manifests. */
interface Routes {
  /** Routes by name: their kind, or why they cannot be rendered directly. */
  readonly kinds: ReadonlyMap<string, RouteKind | NotRouted>
  readonly prerendered: ReadonlySet<string>
  readonly hasParameters: boolean
  readonly rules: readonly RegExp[]
  readonly matchers: readonly RegExp[]
}

/**
 * Finds the render server of an app that has been prepared.
 *
 * @throws NotDirect for a configuration without proof that responses are the same
 */
export async function findRenderServer(
  dir: string,
  next: object,
  kinds: ReadonlySet<RouteKind>,
  asked: (handle: Handle) => Answer,
  log: FastifyBaseLogger,
): Promise<RenderServer> {
  const parts = await loadParts(dir, next, log)
  const byServer = asked(parts.handle)
  const routes = readRoutes(join(dir, parts.config.distDir), kinds)
  return {
    mayRoute: (path) => routes.hasParameters || isKind(routes.kinds.get(path)),
    routed: async (path, request, response) => {
      const found = routedTo(parts, routes, path, request, response)
      if (found === undefined || typeof found === 'string') return found
      const { kind, match } = found
      const entrypoint = match && (await parts.entrypointOf?.(kind, match, parts.getMeta(request)))
      return { ...found, entrypoint: entrypoint && asked(entrypoint) }
    },
    render: (to, answer = byServer, ...asking) => render(parts, log, to, answer, ...asking),
  }
}

async function loadParts(dir: string, next: object, log: FastifyBaseLogger): Promise<Parts> {
  const fromApp = createRequire(join(dir, 'package.json'))
  const load: Load = (path) => fromApp(`next/dist/${path}`) as Record<string, unknown>
  // The loader that Next itself reads its configuration with: it returns the cached one.
  const loadConfig = functionOf(load('server/config'), 'default')
  const config = (await loadConfig('phase-production-server', dir, { silent: true })) as Config
  demandKnown(config)

  const { server } = next as { server?: Record<string, unknown> }
  const inner = (await functionOf(server, 'getServer').call(server)) as Record<string, unknown>
  const meta = load('server/request-meta')
  const compression = fromApp('next/dist/compiled/compression') as () => Compress
  const matchOf = inner['getRouteMatch'] === undefined ? undefined : functionOf(inner, 'getRouteMatch').bind(inner)
  const handle = functionOf(server, 'getRequestHandler').call(server) as Handle
  const getMeta = functionOf(meta, 'getRequestMeta') as Parts['getMeta']
  return {
    config,
    handle,
    getMeta,
    setMeta: functionOf(meta, 'setRequestMeta'),
    isAbortError: functionOf(load('server/pipe-readable'), 'isAbortError') as Parts['isAbortError'],
    matchOf: matchOf as Parts['matchOf'],
    entrypointOf: matchOf && entrypointsIn(inner, getMeta, log),
    compress: config.compress === false ? undefined : compression(),
    release: releaseOf(load),
  }
}

function entrypointsIn(
  server: Readonly<Record<string, unknown>>,
  getMeta: Parts['getMeta'],
  log: FastifyBaseLogger,
): FindEntrypoint | undefined {
  try {
    return entrypointsOf(server, getMeta)
  } catch (err) {
    log.warn({ err }, 'routes of this Next app are asked of its render server, for its Next calls them in another way')
    return undefined
  }
}

function releaseOf(load: Load): Parts['release'] {
  let module: Record<string, unknown>
  try {
    module = load('server/lib/release-compression-stream')
  } catch {
    return undefined
  }
  return functionOf(module, 'releaseCompressionStream')
}

function demandKnown({ experimental = {}, ...config }: Config): void {
  const unproved: readonly (readonly [name: string, set: unknown])[] = [
    ['basePath', config.basePath],
    ['i18n', config.i18n],
    ['trailingSlash', config.trailingSlash],
    ['skipTrailingSlashRedirect', config.skipTrailingSlashRedirect],
    ['cacheComponents', config.cacheComponents],
    ['output: export', config.output === 'export'],
    ['experimental.ppr', experimental['ppr']],
    ['experimental.dynamicIO', experimental['dynamicIO']],
    ['experimental.useCache', experimental['useCache']],
    ['experimental.caseSensitiveRoutes', experimental['caseSensitiveRoutes']],
    ['experimental.testProxy', experimental['testProxy']],
    ['experimental.trustHostHeader', experimental['trustHostHeader']],
  ]
  const first = unproved.find(([, set]) => Boolean(set))
  if (first !== undefined) throw new NotDirect(`its configuration has \`${first[0]}\``)
}

interface Middleware {
  readonly matchers?: readonly { readonly regexp: string }[]
}

/** Pages that Next asks for by itself. */
const OWN_PAGES = new Set(['/_app', '/_document', '/_error', '/404', '/500'])

function readRoutes(distDir: string, wanted: ReadonlySet<RouteKind>): Routes {
  const manifest = (name: string): unknown => JSON.parse(readFileSync(join(distDir, name), 'utf8'))
  const kinds = new Map<string, RouteKind | NotRouted>()
  const add = (route: string, kind: RouteKind): void => {
    // If a route has two entry points, Next has to choose.
    kinds.set(route, kinds.has(route) || !wanted.has(kind) || isIntercepting(route) ? 'route' : kind)
  }
  const pages = manifest('server/pages-manifest.json') as Readonly<Record<string, string>>
  for (const [route, file] of Object.entries(pages)) {
    if (/^\/api(?:\/|$)/.test(route)) add(route, 'pages-api')
    else if (file.endsWith('.js') && !OWN_PAGES.has(route)) add(route, 'pages-page')
  }
  // An app with only pages has no such file.
  const ofApp = existsSync(join(distDir, 'app-path-routes-manifest.json'))
    ? (manifest('app-path-routes-manifest.json') as Readonly<Record<string, string>>)
    : {}
  for (const [entry, route] of Object.entries(ofApp)) {
    if (!route.startsWith('/_')) add(route, entry.endsWith('/route') ? 'route-handler' : 'app-page')
  }

  const edge = manifest('server/middleware-manifest.json') as {
    middleware: Record<string, Middleware>
    functions: Record<string, { readonly page: string }>
  }
  // Functions of the edge runtime run in a sandbox of their own.
  for (const [name, { page }] of Object.entries(edge.functions)) {
    for (const entry of [name, page]) kinds.set(ofApp[entry] ?? entry, 'route')
  }
  const { routes, dynamicRoutes } = manifest('prerender-manifest.json') as {
    routes: Record<string, { readonly srcRoute: string | null }>
    dynamicRoutes: Record<string, unknown>
  }
  const sources = Object.values(routes).flatMap(({ srcRoute }) => srcRoute ?? [])
  for (const route of [...Object.keys(routes), ...Object.keys(dynamicRoutes), ...sources]) {
    kinds.set(route, 'prerendered')
  }

  const node = manifest('server/functions-config-manifest.json') as { functions: Record<string, Middleware> }
  const proxy = node.functions['/_middleware']
  const { rewrites, others } = rulesOf(manifest('routes-manifest.json') as RoutesManifest)
  return {
    kinds,
    prerendered: new Set(Object.keys(routes)),
    hasParameters: [...kinds].some(([route, kind]) => route.includes('[') && isKind(kind)),
    rules: patternsOf([...others, ...rewrites].map(({ regex }) => regex)),
    matchers: patternsOf([
      ...Object.values(edge.middleware).flatMap(matchersOf),
      ...(proxy === undefined ? [] : matchersOf(proxy)),
    ]),
  }
}

/** Whether another page shows this route within itself. */
function isIntercepting(route: string): boolean {
  return route.includes('/(.')
}

function isKind(kind: RouteKind | NotRouted | undefined): kind is RouteKind {
  return kind !== undefined && kind !== 'prerendered' && kind !== 'proxy' && kind !== 'route' && kind !== 'rule'
}

/** Middleware without matchers sees all paths. */
function matchersOf({ matchers = [{ regexp: '' }] }: Middleware): string[] {
  return matchers.map(({ regexp }) => regexp)
}

function routedTo(
  { getMeta, matchOf }: Parts,
  { kinds, prerendered, rules, matchers }: Routes,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Omit<Routed, 'entrypoint'> | NotRouted | undefined {
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
 * Whether the render server finds the same route and parameters as the router server. Lists are not compared, because
 * the app may have changed them.
 */
function isSameMatch(match: RouteMatch, told: RouteMatch | undefined): boolean {
  return (
    told !== undefined &&
    match.definition.page === told.definition.page &&
    match.definition.kind === told.definition.kind &&
    isDeepStrictEqual(withoutLists(match.params), withoutLists(told.params))
  )
}

function withoutLists(params: Params = {}): Params {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, Array.isArray(value) ? [] : value]))
}

async function render(
  { handle, getMeta, setMeta, isAbortError, compress, release }: Parts,
  log: FastifyBaseLogger,
  { path, route, relativeProjectDir, match }: Routed,
  answer: Answer,
  query: ParsedUrlQuery,
  ...[request, response, ofFastify]: Parameters<Answer>
): Promise<void> {
  // From here on, the same as in the router server.
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
    await answer(request, response, ofFastify)
  } catch (error) {
    if (isAbortError(error)) return
    // The render server itself responds to failures in a route. If that has failed, its error page is requested, and
    // the route does not run again.
    log.error({ err: error }, 'Next has failed')
    if (response.headersSent) throw error
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
