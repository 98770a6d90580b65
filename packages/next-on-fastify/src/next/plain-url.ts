// URLs that all parsers on the way to a page read alike.

import { parse, type ParsedUrlQuery } from 'node:querystring'
import { isDecodable } from '../http/decodable.ts'

// Characters that stand for themselves wherever Next reads a path. No segment begins with a dot.
const PLAIN_PATH = /^\/(?:[\w\-~!$()*+,;=:@][\w\-.~!$()*+,;=:@]*(?:\/[\w\-~!$()*+,;=:@][\w\-.~!$()*+,;=:@]*)*)?$/
const MAX_PATH_LENGTH = 1024

// Printable ASCII without quotation mark, hash and backslash.
const PLAIN_QUERY = /^[!$-[\]-~]*$/
/** Parsers differ above a thousand pairs. */
const MAX_QUERY_LENGTH = 1000

/** The part of a URL before its query. */
export function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

/** Whether Next reads a path as it is written, and it is not one of Next's own. */
export function isPlainPath(path: string): boolean {
  return path.length <= MAX_PATH_LENGTH && PLAIN_PATH.test(path) && !path.startsWith('/_next')
}

/** The query of a URL, or undefined if parsers may differ or Next reads one of its names. */
export function queryOf(url: string): ParsedUrlQuery | undefined {
  const start = url.indexOf('?')
  if (start === -1) return {}
  const text = url.slice(start + 1)
  if (text.length > MAX_QUERY_LENGTH || !PLAIN_QUERY.test(text) || !isDecodable(text)) return undefined
  const query = parse(text)
  return Object.keys(query).some(isReserved) ? undefined : query
}

/** Names that Next reads, and names that every object has. */
function isReserved(name: string): boolean {
  return (name.startsWith('_') && name !== '_rsc') || name.startsWith('nxt') || name in Object.prototype
}
