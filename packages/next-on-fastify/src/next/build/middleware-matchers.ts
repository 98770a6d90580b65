// The paths that middleware of a build sees.

import type { NextConfig } from '../config.ts'
import { patternsOf, type Rule } from './route-rules.ts'

/** Middleware, by the manifests of a build. */
export interface Middleware {
  readonly matchers: readonly Matcher[]
}

interface Matcher extends Pick<Rule, 'has' | 'missing'> {
  readonly regexp: string
}

/** The matchers of middleware. */
export interface MiddlewarePaths {
  /** Patterns of paths that middleware may see. */
  readonly patterns: readonly RegExp[]
  /** Whether middleware sees each request for this path. */
  readonly isAlwaysProxied: (path: string) => boolean
}

/** Reads the matchers of middleware. */
export function middlewarePaths(config: NextConfig, middleware: readonly Middleware[]): MiddlewarePaths {
  const matchers = middleware.flatMap((one) => one.matchers)
  const always = seesPlainPaths(config) ? matchers.filter((matcher) => !isConditionalRule(matcher)) : []
  const alwaysPatterns = always.map(({ regexp }) => patternsOf([regexp]))
  return {
    patterns: patternsOf(matchers.map(({ regexp }) => regexp)),
    isAlwaysProxied: (path) => alwaysPatterns.some((variants) => variants.every((pattern) => pattern.test(path))),
  }
}

/** Whether a rule depends on a header, a cookie, a host or a query. */
export function isConditionalRule({ has = [], missing = [] }: Pick<Rule, 'has' | 'missing'>): boolean {
  return has.length > 0 || missing.length > 0
}

/** Whether Next passes the path of a URL unchanged to middleware. */
function seesPlainPaths({ basePath, i18n, trailingSlash, experimental = {} }: NextConfig): boolean {
  return !basePath && !i18n && !trailingSlash && !experimental['trustHostHeader'] && !experimental['testProxy']
}
