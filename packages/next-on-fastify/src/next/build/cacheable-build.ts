// Facts about a build that the response cache needs. The manifests are not public: if one is missing or unexpected, the
// cache stays off.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type NextConfig, readConfig, unprovenSetting } from '../config.ts'
import { patternsOf, type RoutesManifest, rulesOf, setsHeadersBeyondKey } from './route-rules.ts'
import { appPaths } from './path-reader.ts'
import { coveringRules } from './covering-rules.ts'
import { botsOf } from './bots.ts'
import { UncacheableBuildError } from './uncacheable-build-error.ts'
import { isConditionalRule, type Middleware, middlewarePaths } from './middleware-matchers.ts'
import { type Prerendered, prerenderedPages, type PrerenderManifest } from './prerendered.ts'

/** A build whose responses can be cached. */
export interface Build extends Prerendered {
  /** Folder of the build. */
  readonly distDir: string
  /** Folder of the app. */
  readonly dir: string
  /** Whether more than the URL may decide how Next responds to this path. */
  readonly isConditional: (path: string) => boolean
  /** Rules with conditions that match any path, so that nothing is cached. */
  readonly coveringRules: readonly string[]
  /** Whether Next may respond differently to a client with this name. */
  readonly isBot: (userAgent: string | undefined) => boolean
  /** Whether middleware may see this path. */
  readonly isProxied: (path: string) => boolean
  /** Whether middleware sees each request for this path. */
  readonly isAlwaysProxied: (path: string) => boolean
  /** The path of a file in the app, by the path of its URL. Undefined outside of the app. */
  readonly fileOf: (path: string) => string | undefined
  /** The entity tag that Next creates for this text. */
  readonly etagOf: (text: string) => string
}

/** The used manifests of a build. */
interface Manifests {
  readonly routes: RoutesManifest
  readonly prerender: PrerenderManifest
  readonly pages: Readonly<Record<string, string>>
  readonly middleware: readonly Middleware[]
}

/** Conditions besides the build itself. */
interface BuildOptions {
  /** Whether apps with middleware are supported. */
  readonly allowsMiddleware: boolean
  /** Whether other processes share Next's cache, but not that of `'use cache'`. */
  readonly hasOwnUseCache?: boolean
}

/**
 * Reads the build of the app in `dir`.
 *
 * @throws UncacheableBuildError when the cache must stay off
 */
export async function readBuild(dir: string, options: BuildOptions): Promise<Build> {
  const fromApp = createRequire(join(dir, 'package.json'))
  const config = await readConfig(dir)
  const { version } = fromApp('next/package.json') as { version: string }
  const { generateETag } = fromApp('next/dist/server/lib/etag') as { generateETag: (text: string) => string }
  if (typeof generateETag !== 'function') throw new TypeError('Entity tags of pages are unknown')
  const distDir = join(dir, config.distDir)
  const manifests = readManifests(distDir)
  assertCacheable(config, version, manifests.middleware.length > 0, options)

  const paths = appPaths(config)
  const conditional = conditionalPaths(manifests.routes)
  const middleware = middlewarePaths(config, manifests.middleware)
  const matches = (patterns: readonly RegExp[], path: string): boolean =>
    patterns.length > 0 && paths.routedAs(path).some((one) => patterns.some((pattern) => pattern.test(one)))
  return {
    ...prerenderedPages(distDir, manifests.prerender, manifests.pages, paths),
    dir,
    distDir,
    coveringRules: coveringRules(manifests.routes, config.basePath),
    isBot: botsOf(fromApp, config),
    isConditional: (path) => paths.isLocalized(path) || matches(conditional, path),
    isProxied: (path) => matches(middleware.patterns, path),
    isAlwaysProxied: middleware.isAlwaysProxied,
    fileOf: paths.fileOf,
    etagOf: (text) => generateETag(text),
  }
}

function readManifests(distDir: string): Manifests {
  const manifest = (name: string): unknown => JSON.parse(readFileSync(join(distDir, name), 'utf8'))
  const pages = manifest('server/pages-manifest.json') as Readonly<Record<string, string>> | null
  if (pages === null) throw new TypeError('Pages of this build are unknown')
  const edge = manifest('server/middleware-manifest.json') as { middleware: Record<string, Middleware> }
  const node = manifest('server/functions-config-manifest.json') as { functions: Record<string, Middleware> }
  const all = [edge.middleware['/'], node.functions['/_middleware']]
  return {
    pages,
    routes: manifest('routes-manifest.json') as RoutesManifest,
    prerender: manifest('prerender-manifest.json') as PrerenderManifest,
    middleware: all.filter((one) => one !== undefined),
  }
}

function assertCacheable(
  config: NextConfig,
  version: string,
  hasMiddleware: boolean,
  { allowsMiddleware, hasOwnUseCache = false }: BuildOptions,
): void {
  const unproven = unprovenSetting(config, version, 'responseCache')
  if (unproven !== undefined) throw new UncacheableBuildError(`its configuration has "${unproven}"`)
  if (hasMiddleware && !allowsMiddleware) {
    throw new UncacheableBuildError('it has middleware, and "responseCache.proxied" is "never"')
  }
  if (!config.cacheComponents) return
  if (hasOwnUseCache) {
    throw new UncacheableBuildError('it has "cacheComponents", and its processes do not share \'use cache\'')
  }
  if (hasMiddleware) throw new UncacheableBuildError('it has middleware and "cacheComponents"')
}

/** Paths for which a header, a cookie, a host or a query decides about the response. */
function conditionalPaths(routes: RoutesManifest): RegExp[] {
  const { redirects, headers, onMatchHeaders = [] } = routes
  const { rewrites } = rulesOf(routes)
  const conditional = [
    ...redirects.filter(isConditionalRule),
    ...[...headers, ...onMatchHeaders].filter(setsHeadersBeyondKey),
  ]
  // A rewritten path may then match another rule, which the original path does not show.
  const doubtful = conditional.length > 0 || rewrites.some(isConditionalRule) ? rewrites : []
  return patternsOf([...conditional, ...doubtful].map(({ regex }) => regex))
}
