// Decides whether Next has declared a response the same for all clients, and until when.

import type { PageRead } from '../next/page-cache/cache-events.ts'
import type { Build } from '../next/build/cacheable-build.ts'
import { type ContentEncodings, NEXT_ENCODINGS } from './content-encodings.ts'
import { servedFile, type ServedFile } from './source-file.ts'
import type { RecordedResponse } from './recorder.ts'
import { pairsOf } from './response-headers.ts'

/** The source of a response, and its lifetime. */
export interface CacheMeta {
  readonly etag: string | undefined
  /** When Next would check the source again, in milliseconds since 1970. */
  readonly until: number
  /** The page that was served. Either `page` or `file` is defined. */
  readonly page: PageRead | undefined
  readonly file: ServedFile | undefined
}

/** Why a response is not cached. */
export type UncacheableReason =
  | 'condition'
  | 'cookie'
  | 'dynamic'
  | 'lifetime'
  | 'next-miss'
  | 'partial'
  | 'private'
  | 'reads'
  | 'status'
  | 'vary'

/** Maximum lifetime of a stale response, in ms. Normally it ends when Next has regenerated the page, or failed to. */
const MAX_STALE = 10_000

const PRIVATE = /(?:^|[,\s])(?:private|no-store|no-cache)\b/i
/** Headers that are part of the key. */
const KNOWN_VARY = new Set([
  'accept-encoding',
  'next-router-prefetch',
  'next-router-segment-prefetch',
  'next-router-state-tree',
  'next-url',
  'rsc',
])

type Headers = ReadonlyMap<string, readonly (readonly [name: string, value: string])[]>

/**
 * The source and the lifetime of a recorded response, or why it is not cached.
 *
 * @param encodings - the content encodings of compressed responses
 */
export function cacheability(
  build: Build,
  path: string,
  { status, head }: Pick<RecordedResponse, 'head' | 'status'>,
  reads: readonly PageRead[],
  now: number,
  encodings: ContentEncodings['known'] = NEXT_ENCODINGS.known,
): CacheMeta | UncacheableReason {
  const headers = Map.groupBy(pairsOf(head), ([name]) => name.toLowerCase())
  const reason = headReason(status, headers, encodings)
  if (reason !== undefined) return reason
  const etag = firstOf(headers, 'etag')
  const state = firstOf(headers, 'x-nextjs-cache')
  if (state !== undefined) return pageMeta(build, etag, state, reads, now)
  if (reads.length > 0) return 'reads'
  const file = servedFile(build, path, etag)
  return file === undefined ? 'dynamic' : { etag, until: Infinity, page: undefined, file }
}

function firstOf(headers: Headers, name: string): string | undefined {
  return headers.get(name)?.[0]?.[1]
}

function headReason(
  status: number,
  headers: Headers,
  encodings: ContentEncodings['known'],
): UncacheableReason | undefined {
  if (status !== 200 && status !== 304) return 'status'
  if (headers.has('set-cookie')) return 'cookie'
  if (PRIVATE.test(firstOf(headers, 'cache-control') ?? '')) return 'private'
  const encoding = firstOf(headers, 'content-encoding')
  if (encoding !== undefined && !encodings.has(encoding)) return 'vary'
  for (const [, vary] of headers.get('vary') ?? []) {
    if (!vary.split(',').every((name) => KNOWN_VARY.has(name.trim().toLowerCase()))) return 'vary'
  }
  // A 304 without an entity tag does not show which response is unchanged.
  return status === 304 && !headers.has('etag') ? 'condition' : undefined
}

function pageMeta(
  build: Build,
  etag: string | undefined,
  state: string,
  reads: readonly PageRead[],
  now: number,
): CacheMeta | UncacheableReason {
  const isStale = state === 'STALE'
  if (!isStale && state !== 'HIT') return 'next-miss'
  const [page, ...more] = reads
  // Next does not read a stale page again that is already being regenerated.
  if (page === undefined) return isStale ? 'next-miss' : 'reads'
  // Regenerating the page reads data.
  const others = isStale ? more.filter(({ isPage, key }) => isPage && key !== page.key) : more
  if (others.length > 0 || !page.isPage) return 'reads'
  if (page.isPartial) return 'partial'
  const until = servedUntil(build, page, isStale ? now + MAX_STALE : undefined)
  return until !== undefined && until > now ? { etag, until, page, file: undefined } : 'lifetime'
}

/**
 * How long Next serves a page without regenerating it. If it is regenerating the page already, until `regenerated` at the
 * latest. Undefined if the lifetime is unknown.
 */
function servedUntil(build: Build, page: PageRead, regenerated: number | undefined): number | undefined {
  const { lastModified } = page
  const lifetime = page.lifetime ?? build.lifetimeOf(page.key)
  if (lastModified === undefined || lastModified < 0 || lifetime === undefined) return undefined
  const { revalidate, expire = Infinity } = lifetime
  const expiresAt = lastModified + expire * 1000
  if (regenerated !== undefined) return Math.min(expiresAt, regenerated)
  if (revalidate === undefined) return undefined
  return revalidate === false ? expiresAt : Math.min(expiresAt, lastModified + revalidate * 1000)
}
