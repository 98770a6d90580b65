// Redirects, rewrites and headers of a configuration, as the manifest of a build has them.

import { RSC_REQUEST_HEADERS } from '../request-headers.ts'

/** A redirect, a rewrite, or a header rule. */
export interface Rule {
  readonly regex: string
  /** Whether Next has added the rule. */
  readonly internal?: boolean
  /** The target of a redirect or a rewrite. */
  readonly destination?: string
  readonly has?: readonly Condition[]
  readonly missing?: readonly Condition[]
}

/** What a rule requires of a request. */
interface Condition {
  readonly type: string
  /** Name of the header, the cookie or the query parameter. A host has none. */
  readonly key?: string
}

/** The used parts of `routes-manifest.json`. */
export interface RoutesManifest {
  readonly redirects: readonly Rule[]
  readonly headers: readonly Rule[]
  readonly onMatchHeaders?: readonly Rule[]
  readonly rewrites: readonly Rule[] | Readonly<Record<'afterFiles' | 'beforeFiles' | 'fallback', readonly Rule[]>>
}

/** The rules of the configuration, and those that Next adds, such as the redirect of paths with a trailing slash. */
export function rulesOf({ redirects, headers, onMatchHeaders = [], rewrites }: RoutesManifest): {
  readonly rewrites: readonly Rule[]
  readonly others: readonly Rule[]
} {
  return {
    rewrites:
      'beforeFiles' in rewrites ? [...rewrites.beforeFiles, ...rewrites.afterFiles, ...rewrites.fallback] : rewrites,
    others: [...redirects, ...headers, ...onMatchHeaders],
  }
}

/**
 * Whether the condition of a header rule is more than a header of the cache key. Next adds a rule for all paths of a build
 * with a `deploymentId`, whose condition is the header `rsc`: responses to it are cached apart anyway.
 */
export function setsHeadersBeyondKey({ has = [], missing = [] }: Pick<Rule, 'has' | 'missing'>): boolean {
  return [...has, ...missing].some(({ type, key }) => type !== 'header' || !KEYED.has(key?.toLowerCase() ?? ''))
}

const KEYED: ReadonlySet<string> = new Set(RSC_REQUEST_HEADERS)

/** Each pattern with and without case: a pattern that excludes `/api` excludes less if case counts. */
export function patternsOf(sources: readonly string[]): RegExp[] {
  return sources.flatMap((source) => [new RegExp(source), new RegExp(source, 'i')])
}
