// Whether Next has declared an answer the same for everybody, and until when.

import type { Build } from './build/build.ts'
import type { PageRead } from '../next/page-reads.ts'
import { pairsOf, type RecordedAnswer } from './recorder.ts'
import { servedFile, type ServedFile } from './files.ts'

/** What an answer depends on. */
export interface Kept {
  readonly etag: string | undefined
  /** Milliseconds since 1970 after which Next would look again. */
  readonly until: number
  /** The page that it came from: one of the two is there. */
  readonly page: PageRead | undefined
  readonly file: ServedFile | undefined
}

/** Why an answer is not kept. */
export type NotKept =
  | 'condition'
  | 'cookie'
  | 'dynamic'
  | 'fresh'
  | 'lifetime'
  | 'partial'
  | 'private'
  | 'reads'
  | 'status'
  | 'vary'

/**
 * Milliseconds that an answer is kept at the most whose page is being made anew. When that is done or has failed, Next stores the
 * page: this is for when it never does.
 */
const LONGEST_STALE = 10_000

const PRIVATE = /(?:^|[,\s])(?:private|no-store|no-cache)\b/i
const CODINGS: readonly (string | undefined)[] = [undefined, 'gzip', 'deflate']
// They are all in the key.
const KNOWN_VARY = new Set([
  'accept-encoding',
  'next-router-prefetch',
  'next-router-segment-prefetch',
  'next-router-state-tree',
  'next-url',
  'rsc',
])

/** Tells what a recorded answer depends on, or why it is not kept. */
export function keepable(
  build: Build,
  path: string,
  answer: RecordedAnswer,
  reads: readonly PageRead[],
  now: number,
): Kept | NotKept {
  const { status } = answer
  if (status !== 200 && status !== 304) return 'status'
  const headers = Map.groupBy(pairsOf(answer.head), ([name]) => name.toLowerCase())
  const only = (name: string): string | undefined => headers.get(name)?.[0]?.[1]
  if (headers.has('set-cookie')) return 'cookie'
  if (PRIVATE.test(only('cache-control') ?? '')) return 'private'
  if (!CODINGS.includes(only('content-encoding'))) return 'vary'
  for (const [, vary] of headers.get('vary') ?? []) {
    if (!vary.split(',').every((name) => KNOWN_VARY.has(name.trim().toLowerCase()))) return 'vary'
  }
  const etag = only('etag')
  // Without a tag, nobody can tell what has not changed.
  if (status === 304 && etag === undefined) return 'condition'

  const state = only('x-nextjs-cache')
  if (state === undefined) {
    if (reads.length > 0) return 'reads'
    const file = servedFile(build, path, etag)
    return file === undefined ? 'dynamic' : { etag, until: Infinity, page: undefined, file }
  }
  const isStale = state === 'STALE'
  if (!isStale && state !== 'HIT') return 'fresh'
  const [page, ...more] = reads
  // Of what it makes anew already, Next reads nothing any more.
  if (page === undefined) return isStale ? 'fresh' : 'reads'
  // To make it anew, it reads data.
  const others = isStale ? more.filter(({ ofPage, key }) => ofPage && key !== page.key) : more
  if (others.length > 0 || !page.ofPage) return 'reads'
  if (page.partial) return 'partial'
  const until = shownUntil(build, page, isStale ? now + LONGEST_STALE : undefined)
  return until !== undefined && until > now ? { etag, until, page, file: undefined } : 'lifetime'
}

/**
 * Until when Next shows a page: without making it anew, or, where it is doing that, until `made` at the latest. Nothing where
 * that is not known.
 */
function shownUntil(build: Build, page: PageRead, made: number | undefined): number | undefined {
  const { lastModified } = page
  const lifetime = page.lifetime ?? build.lifetimeOf(page.key)
  if (lastModified === undefined || lastModified < 0 || lifetime === undefined) return undefined
  const { revalidate, expire = Infinity } = lifetime
  const gone = lastModified + expire * 1000
  if (made !== undefined) return Math.min(gone, made)
  if (revalidate === undefined) return undefined
  return revalidate === false ? gone : Math.min(gone, lastModified + revalidate * 1000)
}
