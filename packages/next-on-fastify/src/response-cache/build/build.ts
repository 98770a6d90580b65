// What a build of Next says of itself, as far as the memory must know it. The manifests are not public, and may change:
// what is not there, or not as expected, turns the memory off and never makes it guess.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { patternsOf, type Rule, type RoutesManifest, rulesOf } from '../../next/route-rules.ts'
import { appPaths, type PathConfig } from './app-paths.ts'
import { type BotsConfig, botsOf } from './bots.ts'
import type { Lifetime } from '../../next/page-reads.ts'

/** A build whose answers can be kept. */
export interface Build {
  /** Folder of the build. */
  readonly distDir: string
  /** Folder of the app. */
  readonly dir: string
  /** Whether something else than the URL may decide what Next does with this path. */
  readonly isConditional: (path: string) => boolean
  /** Whether Next may answer a client of this name otherwise than others. */
  readonly isBot: (userAgent: string | undefined) => boolean
  /** Whether middleware may see this path. */
  readonly isProxied: (path: string) => boolean
  /** Whether it sees each request for this path, however that looks otherwise. */
  readonly isAlwaysProxied: (path: string) => boolean
  /** Whether the build has made what is at this path, and all of it. */
  readonly isMade: (path: string) => boolean
  /** The lifetime that a page had when it was built. */
  readonly lifetimeOf: (cacheKey: string) => Lifetime | undefined
  /** The path of a file in the app, of the path of its URL; nothing where that is outside of the app. */
  readonly fileOf: (path: string) => string | undefined
  /** The file of a page of the Pages Router that has no data: each answer is what is in it. */
  readonly staticPage: (path: string) => string | undefined
  /** The entity tag that Next gives a page of this text. */
  readonly etagOf: (text: string) => string
}

/** What is used of a configuration. */
interface Config extends BotsConfig, PathConfig {
  readonly distDir: string
  readonly assetPrefix?: string
  readonly trailingSlash?: boolean
  readonly skipTrailingSlashRedirect?: boolean
  readonly cacheHandler?: string
  readonly cacheHandlers?: Readonly<Record<string, unknown>>
  readonly experimental?: Readonly<Record<string, unknown>>
}

interface Middleware {
  readonly matchers: readonly Matcher[]
}

interface Matcher extends Pick<Rule, 'has' | 'missing'> {
  readonly regexp: string
}

interface PrerenderManifest {
  readonly routes: Readonly<Record<string, PrerenderedRoute>>
}

interface PrerenderedRoute {
  readonly initialRevalidateSeconds: number | false
  readonly initialExpireSeconds?: number
  readonly renderingMode?: string
}

/** Where the files of a build are in the app. */
export const BUILT_FILES = '/_next/static/'

/** Thrown where a build is none that answers may be kept of. */
export class NotKeepable extends Error {}

/**
 * Reads what the memory must know of the app in `dir`.
 *
 * @throws NotKeepable where the memory must stay off
 */
export async function readBuild(dir: string, proxyMemory: boolean, isShared = false): Promise<Build> {
  const fromApp = createRequire(join(dir, 'package.json'))
  const config = await readConfig(dir)
  const { version } = fromApp('next/package.json') as { version: string }
  demandKnown(config, version)

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
  if (isShared && config.cacheComponents) throw new NotKeepable('it has `cacheComponents`, and its cache is shared')
  if (middleware.length > 0 && config.cacheComponents) throw new NotKeepable('it has middleware and `cacheComponents`')

  const paths = appPaths(config)
  const conditional = conditionalPaths(routes)
  const matchers = middleware.flatMap((found) => found.matchers)
  const proxied = patternsOf(matchers.map(({ regexp }) => regexp))
  const always = readsPathsAsTheyAre(config) ? matchers.filter((matcher) => !isConditionalRule(matcher)) : []
  const alwaysProxied = always.map(({ regexp }) => patternsOf([regexp]))
  const isOneOf = (patterns: readonly RegExp[], path: string): boolean =>
    patterns.length > 0 && paths.routedAs(path).some((one) => patterns.some((pattern) => pattern.test(one)))
  const staticPage = (path: string): string | undefined => {
    const page = paths.pageOf(path)
    const file = page !== undefined && Object.hasOwn(pages, page) ? pages[page] : undefined
    return file?.endsWith('.html') ? join(distDir, 'server', file) : undefined
  }
  return {
    dir,
    distDir,
    isBot: botsOf(fromApp, config),
    isConditional: (path) => paths.isLocalised(path) || isOneOf(conditional, path),
    isProxied: (path) => isOneOf(proxied, path),
    isAlwaysProxied: (path) => alwaysProxied.some((readings) => readings.every((pattern) => pattern.test(path))),
    fileOf: paths.fileOf,
    isMade: (path) => {
      const page = paths.pageOf(path)
      const route = page === undefined ? undefined : prerendered.get(page)
      if (route !== undefined) return route.renderingMode !== 'PARTIALLY_STATIC'
      return staticPage(path) !== undefined || (paths.fileOf(path)?.startsWith(BUILT_FILES) ?? false)
    },
    lifetimeOf: (cacheKey) => {
      const route = prerendered.get(pathOf(cacheKey))
      return route && { revalidate: route.initialRevalidateSeconds, expire: route.initialExpireSeconds }
    },
    staticPage,
    etagOf: (text) => generateETag(text),
  }
}

/** The path of a page in Next's cache: newer versions put its route before that, and write `/index` for the root. */
function pathOf(cacheKey: string): string {
  const path = cacheKey.startsWith('/route-cache/') ? cacheKey.slice(cacheKey.indexOf('/$/') + 2) : cacheKey
  return path === '/index' ? '/' : path.replace(/^\/index\/index(?=\/|$)/, '/index')
}

/** The configuration of an app, by the loader that Next itself reads it with: it answers from what it has read. */
export function readConfig(dir: string): Promise<Config> {
  const fromApp = createRequire(join(dir, 'package.json'))
  const load = (fromApp('next/dist/server/config') as { default: LoadConfig }).default
  return load('phase-production-server', dir, { silent: true })
}

type LoadConfig = (phase: string, dir: string, options: { silent: boolean }) => Promise<Config>

/** Refuses configurations with which nobody has shown that the memory answers as Next does. */
function demandKnown(config: Config, version: string): void {
  const { cacheComponents = false, experimental = {} } = config
  const [major = 0, minor = 0] = version.split(/[.-]/).map(Number)
  const unproved: readonly (readonly [name: string, set: unknown])[] = [
    // It is the base path where nothing else is said.
    ['assetPrefix', config.assetPrefix !== config.basePath && config.assetPrefix],
    ['i18n.domains', config.i18n?.domains],
    ['skipTrailingSlashRedirect', config.skipTrailingSlashRedirect],
    ['cacheComponents', cacheComponents && (major < 16 || (major === 16 && minor < 4))],
    ['cacheHandler', config.cacheHandler],
    ['cacheHandlers', Object.values(config.cacheHandlers ?? {}).some((handler) => handler !== undefined)],
    ['experimental.ppr', experimental['ppr']],
    ['experimental.dynamicIO', experimental['dynamicIO']],
    // It is a part of `cacheComponents`.
    ['experimental.useCache', experimental['useCache'] && !cacheComponents],
    ['experimental.caseSensitiveRoutes', experimental['caseSensitiveRoutes']],
    ['experimental.exposeTestingApiInProductionBuild', experimental['exposeTestingApiInProductionBuild']],
  ]
  const first = unproved.find(([, set]) => Boolean(set))
  if (first !== undefined) throw new NotKeepable(`its configuration has \`${first[0]}\``)
}

/** Paths whose answer a header, a cookie, a host or a query decides. */
function conditionalPaths(routes: RoutesManifest): RegExp[] {
  const { rewrites, others } = rulesOf(routes)
  // What is rewritten may match another rule after that, which its own path does not show.
  const doubtful = [...rewrites, ...others].some(isConditionalRule) ? rewrites : []
  return patternsOf([...others.filter(isConditionalRule), ...doubtful].map(({ regex }) => regex))
}

function isConditionalRule({ has = [], missing = [] }: Pick<Rule, 'has' | 'missing'>): boolean {
  return has.length > 0 || missing.length > 0
}

/** Whether Next tells its proxy the path of a URL as that is. */
function readsPathsAsTheyAre({ basePath, i18n, trailingSlash, experimental = {} }: Config): boolean {
  return !basePath && !i18n && !trailingSlash && !experimental['trustHostHeader'] && !experimental['testProxy']
}
