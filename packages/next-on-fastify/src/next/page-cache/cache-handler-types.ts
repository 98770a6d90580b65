// The public interface that Next has for cache handlers, and the keys of its page cache.

/** How long an entry of Next's cache is fresh, and how long it may be served at all, in seconds. */
export interface Lifetime {
  readonly revalidate?: number | false | undefined
  readonly expire?: number | undefined
}

/** The version of an entry that other processes may replace. */
export interface Version {
  /** Whether the entry still has this version. */
  isCurrent(): boolean
}

/** What Next passes with a key. */
export interface Context {
  readonly kind?: string
  readonly fetchCache?: boolean
  readonly tags?: readonly string[]
  readonly softTags?: readonly string[]
  readonly isFallback?: boolean
  readonly cacheControl?: Lifetime
}

/** An entry that a cache handler returns to Next. */
export interface Found {
  readonly lastModified?: number
  readonly cacheControl?: Lifetime
  readonly version?: Version
  readonly value?: {
    readonly kind?: string
    readonly postponed?: unknown
    readonly headers?: Readonly<Record<string, unknown>>
  } | null
}

/** A cache handler of Next. */
export interface CacheHandler {
  get(key: string, context: Context): Promise<Found | null>
  set(key: string, value: { kind?: string } | null, context: Context): Promise<void>
  revalidateTag(tags: string | readonly string[], durations?: { expire?: number }): Promise<void>
  resetRequestCache?(): void
}

export type CacheHandlerClass = new (options: unknown) => CacheHandler

/** Kinds of entries that are whole responses. */
export const PAGE_KINDS: ReadonlySet<string> = new Set(['APP_PAGE', 'APP_ROUTE', 'PAGES'])

/** The tags of a page or a route handler. */
export function pageTags(value: Found['value']): readonly string[] {
  const tags = value?.headers?.['x-next-cache-tags']
  return typeof tags === 'string' ? tags.split(',') : []
}

/**
 * The path of a page, by its key in Next's cache. Newer versions put the route before the path. All versions write
 * `/index` for the root, and `/index/index` for a page at `/index`.
 */
export function pagePathOf(key: string): string {
  const path = key.startsWith('/route-cache/') ? key.slice(key.indexOf('/$/') + 2) : key
  return path === '/index' ? '/' : path.replace(/^\/index\/index(?=\/|$)/, '/index')
}
