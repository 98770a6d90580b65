// The rules of a configuration, as the manifest of a build has them, and the patterns of paths in manifests.

/** A redirect, a rewrite, or headers for some paths. */
export interface Rule {
  readonly regex: string
  readonly has?: readonly unknown[]
  readonly missing?: readonly unknown[]
}

/** What is used of `routes-manifest.json`. */
export interface RoutesManifest {
  readonly redirects: readonly Rule[]
  readonly headers: readonly Rule[]
  readonly onMatchHeaders?: readonly Rule[]
  readonly rewrites: readonly Rule[] | Readonly<Record<'afterFiles' | 'beforeFiles' | 'fallback', readonly Rule[]>>
}

/** All of the configuration, and those that Next adds: the redirect of paths that end with a slash is one of them. */
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

/** In both readings of upper case: a pattern that leaves out `/api` leaves out less where case counts. */
export function patternsOf(sources: readonly string[]): RegExp[] {
  return sources.flatMap((source) => [new RegExp(source), new RegExp(source, 'i')])
}
