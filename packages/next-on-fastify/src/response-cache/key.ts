// Two requests with the same key get the same response from Next while nothing is revalidated. A request without such
// proof has no key, and bypasses the cache.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isOfNext, NEXT_COOKIES, RSC_REQUEST_HEADERS } from '../next/request-headers.ts'
import type { ContentEncodings } from './content-encodings.ts'
import { decisive } from './response-headers.ts'

/** Why a request bypasses the cache. */
export type Bypass =
  | 'authorization'
  | 'body'
  | 'condition'
  | 'draft'
  | 'encoding'
  | 'method'
  | 'next-header'
  | 'protocol'
  | 'range'
  | 'too-long'
  | 'upgrade'
  | 'url'

/** The cache key of a request, and parts of it. */
export interface RequestKey {
  readonly key: string
  /** Path of the URL. */
  readonly path: string
  /** The path with the names of App Router headers. Requests of one kind are usually either all cacheable or not. */
  readonly kind: string
  /** The entity tag in `if-none-match`, without the mark of a weak one. */
  readonly etag: string | undefined
}

// Printable characters that Next and its matchers read as themselves. No percent sign, which may encode another
// character, and no backslash, which URLs read as a slash.
const PLAIN_PATH = /^\/[\w\-.~!$&'()*+,;=:@/]*$/
const PLAIN_QUERY = /^[\w\-.~!$&'()*+,;=:@/?%[\]{}|^]*$/
const ONE_ETAG = /^(?:W\/)?("[\w\-+/=.:]*")$/
const NO_CACHE = /(?:^|,)\s*no-cache\s*(?:,|$)/

const MAX_KEY_LENGTH = 8192
// Patterns of the configuration run on the path, and may take more than linear time.
const MAX_PATH_LENGTH = 2048

/** Next builds absolute URLs from these headers. */
const FORWARDED_HEADERS = ['x-forwarded-host', 'x-forwarded-port', 'x-forwarded-proto'] as const

/** Flags of headers that are read for the key. */
const ENCODING = 1
const CONDITION = 2
const COOKIE = 4
const FORWARDED = 8
const ROUTER = 16

/** Headers that matter for a key: the reason of a bypass, or a flag. */
const ROLES: ReadonlyMap<string, Bypass | number> = new Map<string, Bypass | number>([
  ['if-match', 'condition'],
  ['if-modified-since', 'condition'],
  ['if-unmodified-since', 'condition'],
  ['range', 'range'],
  ['if-range', 'range'],
  ['authorization', 'authorization'],
  ['proxy-authorization', 'authorization'],
  ['content-length', 'body'],
  ['content-type', 'body'],
  ['transfer-encoding', 'body'],
  ['expect', 'body'],
  ['upgrade', 'upgrade'],
  ['accept-encoding', ENCODING],
  ['if-none-match', CONDITION],
  ['cookie', COOKIE],
  ...FORWARDED_HEADERS.map((name) => [name, FORWARDED] as const),
  ...RSC_REQUEST_HEADERS.map((name) => [name, ROUTER] as const),
])

/** The parts of a request that a key consists of. */
export type KeyInput = Pick<IncomingMessage, 'headers' | 'httpVersionMajor' | 'method' | 'url'>

/** The key of a request, or why it has none. */
export function requestKey(request: KeyInput, encodings: ContentEncodings): RequestKey | Bypass {
  const { method, url = '', headers } = request
  if (method !== 'GET' && method !== 'HEAD') return 'method'
  if (request.httpVersionMajor !== 1) return 'protocol'

  const query = url.indexOf('?')
  const path = query === -1 ? url : url.slice(0, query)
  const bypass = urlBypass(path, query === -1 ? '' : url.slice(query + 1))
  if (bypass !== undefined) return bypass
  const flags = headerFlags(headers)
  if (typeof flags === 'string') return flags
  const encoding = flags & ENCODING ? encodings.encodingFor(headers['accept-encoding']!) : ''
  if (encoding === undefined) return 'encoding'
  const etag = flags & CONDITION ? etagOf(headers) : undefined
  if (etag === null) return 'condition'
  if (flags & COOKIE && NEXT_COOKIES.test(headers.cookie!)) return 'draft'

  let key = `${method} ${encoding} ${headers.host ?? ''} ${url}`
  if (flags & FORWARDED) key += linesOf(FORWARDED_HEADERS, headers)
  if (flags & ROUTER) key += linesOf(RSC_REQUEST_HEADERS, headers)
  if (key.length > MAX_KEY_LENGTH) return 'too-long'
  return { key, path, kind: flags & ROUTER ? path + namesOf(RSC_REQUEST_HEADERS, headers) : path, etag }
}

function urlBypass(path: string, query: string): Bypass | undefined {
  if (path.length > MAX_PATH_LENGTH) return 'too-long'
  const isPlain = PLAIN_PATH.test(path) && !path.includes('//') && !path.includes('/.') && PLAIN_QUERY.test(query)
  return isPlain ? undefined : 'url'
}

/** One pass over all headers, as reading absent ones takes longer: the reason of a bypass, or flags. */
function headerFlags(headers: IncomingHttpHeaders): Bypass | number {
  let flags = 0
  for (const name in headers) {
    const role = ROLES.get(name)
    if (role === undefined) {
      if (isOfNext(name) && headers[name] !== undefined) return 'next-header'
    } else if (headers[name] !== undefined) {
      if (typeof role === 'string') return role
      flags |= role
    }
  }
  return flags
}

function linesOf(names: readonly string[], headers: IncomingHttpHeaders): string {
  let lines = ''
  for (const name of names) {
    if (headers[name] !== undefined) lines += `\n${name}: ${String(headers[name])}`
  }
  return lines
}

function namesOf(names: readonly string[], headers: IncomingHttpHeaders): string {
  let list = ''
  for (const name of names) {
    if (headers[name] !== undefined) list += ` ${name}`
  }
  return list
}

/** The entity tag of a condition, or null for a condition that only Next can evaluate. */
function etagOf(headers: IncomingHttpHeaders): string | null | undefined {
  const only = ONE_ETAG.exec(headers['if-none-match']!)
  if (only === null || NO_CACHE.test(headers['cache-control'] ?? '')) return null
  return only[1]
}

/** Adds the headers that were set for the response before Next. */
export function withResponseHeaders(
  key: RequestKey,
  headers: Iterable<readonly [name: string, value: string]>,
): RequestKey {
  const set = decisive(headers)
  // Usually there are none.
  return set === '' ? key : { ...key, key: key.key + set, kind: key.kind + set }
}

/** The key of the response itself: with a condition, the key of a 304. */
export function conditionalKey({ key, etag }: RequestKey): string {
  return etag === undefined ? key : notModifiedKey(key, etag)
}

/** The key of a 304 for an entity tag. */
export function notModifiedKey(key: string, etag: string): string {
  return `${key}\nif-none-match: ${etag}`
}
