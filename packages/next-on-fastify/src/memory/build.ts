// What a build of Next says of itself, as far as the memory must know it. The manifests are not public, and may change:
// what is not there, or not as expected, turns the memory off and never makes it guess.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Lifetime } from './page-reads.ts'

/** A build whose answers can be kept. */
export interface Build {
  /** Folder of the build. */
  readonly distDir: string
  /** Folder of the app. */
  readonly dir: string
  /** Whether something else than the URL may decide what Next does with this path, or middleware may see it. */
  readonly isConditional: (path: string) => boolean
  /** The lifetime that a page had when it was built. */
  readonly lifetimeOf: (cacheKey: string) => Lifetime | undefined
  /** The file of a page of the Pages Router that has no data: each answer is what is in it. */
  readonly staticPage: (path: string) => string | undefined
  /** The entity tag that Next gives a page of this text. */
  readonly etagOf: (text: string) => string
}

interface Config {
  readonly distDir: string
  readonly basePath?: string
  readonly assetPrefix?: string
  readonly i18n?: unknown
  readonly trailingSlash?: boolean
  readonly skipTrailingSlashRedirect?: boolean
  readonly cacheComponents?: boolean
  readonly cacheHandler?: string
  readonly cacheHandlers?: Readonly<Record<string, unknown>>
  readonly experimental?: Readonly<Record<string, unknown>>
}

interface Rule {
  readonly regex: string
  readonly has?: readonly unknown[]
  readonly missing?: readonly unknown[]
}

interface RoutesManifest {
  readonly redirects: readonly Rule[]
  readonly headers: readonly Rule[]
  readonly onMatchHeaders?: readonly Rule[]
  readonly rewrites: readonly Rule[] | Readonly<Record<'afterFiles' | 'beforeFiles' | 'fallback', readonly Rule[]>>
}

interface Middleware {
  readonly matchers: readonly { readonly regexp: string }[]
}

interface PrerenderManifest {
  readonly routes: Readonly<
    Record<string, { readonly initialRevalidateSeconds: number | false; readonly initialExpireSeconds?: number }>
  >
}

/** Thrown where a build is none that answers may be kept of. */
export class NotKeepable extends Error {}

/**
 * Reads what the memory must know of the app in `dir`.
 *
 * @throws NotKeepable where the memory must stay off
 */
export async function readBuild(dir: string, proxyMemory: boolean): Promise<Build> {
  const fromApp = createRequire(join(dir, 'package.json'))
  // The loader that Next itself reads its configuration with: it answers from what it has read.
  const load = (fromApp('next/dist/server/config') as { default: LoadConfig }).default
  const config = await load('phase-production-server', dir, { silent: true })
  demandKnown(config)

  const distDir = join(dir, config.distDir)
  const manifest = (name: string): unknown => JSON.parse(readFileSync(join(distDir, name), 'utf8'))
  const routes = manifest('routes-manifest.json') as RoutesManifest
  const prerendered = new Map(Object.entries((manifest('prerender-manifest.json') as PrerenderManifest).routes))
  const edge = manifest('server/middleware-manifest.json') as { middleware: Record<string, Middleware> }
  const node = manifest('server/functions-config-manifest.json') as { functions: Record<string, Middleware> }
  const pages = manifest('server/pages-manifest.json') as Readonly<Record<string, string>>
  const { generateETag } = fromApp('next/dist/server/lib/etag') as { generateETag: (text: string) => string }
  if (pages === null || typeof generateETag !== 'function') throw new TypeError('Pages of this build cannot be told')
  const middleware = [edge.middleware['/'], node.functions['/_middleware']].filter((found) => found !== undefined)
  if (middleware.length > 0 && !proxyMemory) throw new NotKeepable('it has middleware, and `proxyMemory` is not set')

  const conditional = [...conditionalPaths(routes), ...middleware.flatMap(({ matchers }) => pathsOf(matchers))]
  return {
    dir,
    distDir,
    isConditional: (path) => conditional.some((pattern) => pattern.test(path)),
    lifetimeOf: (cacheKey) => {
      const route = prerendered.get(pathOf(cacheKey))
      return route && { revalidate: route.initialRevalidateSeconds, expire: route.initialExpireSeconds }
    },
    staticPage: (path) => {
      const file = Object.hasOwn(pages, path) ? pages[path] : undefined
      return file?.endsWith('.html') ? join(distDir, 'server', file) : undefined
    },
    etagOf: (text) => generateETag(text),
  }
}

/** The path of a page in Next's cache: newer versions put its route before that, and write `/index` for the root. */
function pathOf(cacheKey: string): string {
  const path = cacheKey.startsWith('/route-cache/') ? cacheKey.slice(cacheKey.indexOf('/$/') + 2) : cacheKey
  return path === '/index' ? '/' : path.replace(/^\/index\/index(?=\/|$)/, '/index')
}

type LoadConfig = (phase: string, dir: string, options: { silent: boolean }) => Promise<Config>

/** Refuses configurations with which nobody has shown that the memory answers as Next does. */
function demandKnown(config: Config): void {
  const { experimental = {} } = config
  const unproved: readonly (readonly [name: string, set: unknown])[] = [
    ['basePath', config.basePath],
    ['assetPrefix', config.assetPrefix],
    ['i18n', config.i18n],
    ['trailingSlash', config.trailingSlash],
    ['skipTrailingSlashRedirect', config.skipTrailingSlashRedirect],
    ['cacheComponents', config.cacheComponents],
    ['cacheHandler', config.cacheHandler],
    ['cacheHandlers', Object.values(config.cacheHandlers ?? {}).some((handler) => handler !== undefined)],
    ['experimental.ppr', experimental['ppr']],
    ['experimental.dynamicIO', experimental['dynamicIO']],
    ['experimental.useCache', experimental['useCache']],
    ['experimental.caseSensitiveRoutes', experimental['caseSensitiveRoutes']],
    ['experimental.exposeTestingApiInProductionBuild', experimental['exposeTestingApiInProductionBuild']],
  ]
  const first = unproved.find(([, set]) => Boolean(set))
  if (first !== undefined) throw new NotKeepable(`its configuration has \`${first[0]}\``)
}

/** Paths whose answer a header, a cookie, a host or a query decides. */
function conditionalPaths(routes: RoutesManifest): RegExp[] {
  const { rewrites } = routes
  const ofRewrites =
    'beforeFiles' in rewrites ? [...rewrites.beforeFiles, ...rewrites.afterFiles, ...rewrites.fallback] : rewrites
  const others = [...routes.redirects, ...routes.headers, ...(routes.onMatchHeaders ?? [])]
  // What is rewritten may match another rule after that, which its own path does not show.
  const doubtful = ofRewrites.some(isConditionalRule) || others.some(isConditionalRule) ? ofRewrites : []
  return pathsOf([...others.filter(isConditionalRule), ...doubtful].map(({ regex }) => ({ regexp: regex })))
}

function isConditionalRule({ has = [], missing = [] }: Rule): boolean {
  return has.length > 0 || missing.length > 0
}

/** In both readings of upper case: a pattern that leaves out `/api` leaves out less where case counts. */
function pathsOf(matchers: readonly { readonly regexp: string }[]): RegExp[] {
  return matchers.flatMap(({ regexp }) => [new RegExp(regexp), new RegExp(regexp, 'i')])
}
