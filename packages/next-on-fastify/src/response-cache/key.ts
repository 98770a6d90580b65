// Two requests with the same key get the same answer from Next while nothing is revalidated. A request of which that is
// not known has no key, and Next answers it.

import type { IncomingMessage } from 'node:http'
import { isOfNext, NEXT_COOKIES, ROUTER_HEADERS } from '../next/request-headers.ts'

/** Why a request is none for the memory. */
export type Bypass =
  | 'authorization'
  | 'body'
  | 'condition'
  | 'draft'
  | 'encoding'
  | 'header'
  | 'method'
  | 'next-header'
  | 'protocol'
  | 'range'
  | 'too-long'
  | 'upgrade'
  | 'url'

/** What tells a request from those with other answers. */
export interface RequestKey {
  readonly key: string
  /** Path of the URL. */
  readonly path: string
  /** The path, and which headers of the App Router are there: what they ask for is kept or not by itself. */
  readonly kind: string
  /** The entity tag that the client has, without the mark of a weak one. */
  readonly etag: string | undefined
}

// Printable characters that neither Next nor a matcher of its reads as anything but themselves: no percent, which may
// hide another one, no backslash, which URLs take for a slash.
const PLAIN_PATH = /^\/[\w\-.~!$&'()*+,;=:@/]*$/
const PLAIN_QUERY = /^[\w\-.~!$&'()*+,;=:@/?%[\]{}|^]*$/
const ONE_ETAG = /^(?:W\/)?("[\w\-+/=.:]*")$/
const NO_CACHE = /(?:^|,)\s*no-cache\s*(?:,|$)/
const CODINGS = new Set(['br', 'compress', 'deflate', 'gzip', 'zstd'])

const LONGEST_KEY = 8192
// Patterns of the configuration are held against it, which may take time that grows faster than it.
const LONGEST_PATH = 2048

/** What a key is made of. */
export type Asked = Pick<IncomingMessage, 'headers' | 'httpVersionMajor' | 'method' | 'url'>

/** Tells the key of a request, or why it has none. */
export function requestKey(request: Asked): RequestKey | Bypass {
  const { method, url = '', headers } = request
  if (method !== 'GET' && method !== 'HEAD') return 'method'
  if (request.httpVersionMajor !== 1) return 'protocol'

  const query = url.indexOf('?')
  const path = query === -1 ? url : url.slice(0, query)
  if (path.length > LONGEST_PATH) return 'too-long'
  if (!PLAIN_PATH.test(path) || path.includes('//') || path.includes('/.')) return 'url'
  if (query !== -1 && !PLAIN_QUERY.test(url.slice(query + 1))) return 'url'

  let ofRouter = false
  let forwarded = ''
  let encoding = ''
  let etag: string | undefined
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined) continue
    switch (name) {
      case 'rsc':
      case 'next-router-state-tree':
      case 'next-router-prefetch':
      case 'next-router-segment-prefetch':
      case 'next-url':
        ofRouter = true
        break
      // Next makes absolute URLs of them.
      case 'x-forwarded-host':
      case 'x-forwarded-port':
      case 'x-forwarded-proto':
        forwarded += `\n${name}: ${String(value)}`
        break
      case 'accept-encoding': {
        const coding = codingFor(value as string)
        if (coding === undefined) return 'encoding'
        encoding = coding
        break
      }
      case 'if-none-match': {
        const only = ONE_ETAG.exec(value as string)
        if (only === null || NO_CACHE.test(headers['cache-control'] ?? '')) return 'condition'
        etag = only[1]
        break
      }
      case 'if-match':
      case 'if-modified-since':
      case 'if-unmodified-since':
        return 'condition'
      case 'range':
      case 'if-range':
        return 'range'
      case 'authorization':
      case 'proxy-authorization':
        return 'authorization'
      case 'cookie':
        if (NEXT_COOKIES.test(value as string)) return 'draft'
        break
      case 'content-length':
      case 'content-type':
      case 'transfer-encoding':
      case 'expect':
        return 'body'
      case 'upgrade':
        return 'upgrade'
      default:
        if (isOfNext(name)) return 'next-header'
    }
  }

  let key = `${method} ${encoding} ${headers.host ?? ''} ${url}${forwarded}`
  let kind = path
  if (ofRouter) {
    for (const name of ROUTER_HEADERS) {
      const value = headers[name]
      if (value === undefined) continue
      key += `\n${name}: ${String(value)}`
      kind += ` ${name}`
    }
  }
  return key.length > LONGEST_KEY ? 'too-long' : { key, path, kind, etag }
}

/** Which of its two codings Next chooses, where no weights make that hard to tell. */
function codingFor(accepted: string): '' | 'deflate' | 'gzip' | undefined {
  let coding: '' | 'deflate' | 'gzip' = ''
  // Beside others it counts by its place.
  if (accepted === '' || accepted === 'identity') return coding
  for (const part of accepted.split(',')) {
    const token = part.trim()
    if (!CODINGS.has(token)) return undefined
    if (token === 'gzip') coding = 'gzip'
    else if (token === 'deflate' && coding === '') coding = 'deflate'
  }
  return coding
}
