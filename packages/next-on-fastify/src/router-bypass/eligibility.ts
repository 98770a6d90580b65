// What may be given to a route without Next's router server, as far as the request itself tells.

import type { IncomingMessage } from 'node:http'
import { parse, type ParsedUrlQuery } from 'node:querystring'
import { isDecodable } from '../http/decodable.ts'
import { isOfNext, NEXT_COOKIES, ROUTER_HEADERS } from '../next/request-headers.ts'

/** What a route of Next is. */
export type RouteKind = 'app-page' | 'pages-api' | 'pages-page' | 'route-handler'

/** Why more than the path of a request may decide what Next does with it. */
export type Oddity = 'draft' | 'header' | 'method' | 'protocol' | 'query' | 'url'

// Segments of characters that stand for themselves wherever Next looks at a path, and none that begins with a dot.
const PLAIN_PATH = /^\/(?:[\w\-~!$()*+,;=:@][\w\-.~!$()*+,;=:@]*(?:\/[\w\-~!$()*+,;=:@][\w\-.~!$()*+,;=:@]*)*)?$/
const LONGEST_PATH = 1024

// All of ASCII that is printed, but for a quotation mark, a hash and a backslash.
const PLAIN_QUERY = /^[!$-[\]-~]*$/
// Parsers differ in what they do with more than a thousand pairs.
const LONGEST_QUERY = 1000

const IN_HANDLERS: ReadonlySet<string> = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'])
const ON_PAGES: ReadonlySet<string> = new Set(['GET', 'HEAD'])
const OF_ROUTER: ReadonlySet<string> = new Set(ROUTER_HEADERS)

/** The part of a URL before its query. */
export function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

/** Whether Next reads a path as it is written, and it is none of Next's own. */
export function isPlainPath(path: string): boolean {
  return path.length <= LONGEST_PATH && PLAIN_PATH.test(path) && !path.startsWith('/_next')
}

/** What keeps a request from a route of this kind, or from any route, if something does. */
export function oddityOf(request: IncomingMessage, kind?: RouteKind): Oddity | undefined {
  if (request.httpVersion !== '1.1') return 'protocol'
  // Others than these are asked of pages by server actions.
  const methods = kind === 'app-page' || kind === 'pages-page' ? ON_PAGES : IN_HANDLERS
  if (!methods.has(request.method ?? '')) return 'method'
  const { headers } = request
  for (const name in headers) {
    if (name === 'cookie') {
      if (NEXT_COOKIES.test(String(headers.cookie))) return 'draft'
    } else if (OF_ROUTER.has(name)) {
      if (kind !== 'app-page') return 'header'
    } else if (name === 'expect' || name === 'upgrade' || isOfNext(name)) {
      return 'header'
    }
  }
  return undefined
}

/** The query of a URL as each parser reads it; nothing where they may differ, or Next would take it for its own. */
export function queryOf(url: string): ParsedUrlQuery | undefined {
  const start = url.indexOf('?')
  if (start === -1) return {}
  const text = url.slice(start + 1)
  if (text.length > LONGEST_QUERY || !PLAIN_QUERY.test(text) || !isDecodable(text)) return undefined
  const query = parse(text)
  return Object.keys(query).some(isReserved) ? undefined : query
}

/** Names that Next reads, and those that an object has without being told. */
function isReserved(name: string): boolean {
  return (name.startsWith('_') && name !== '_rsc') || name.startsWith('nxt') || name in Object.prototype
}
