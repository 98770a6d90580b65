// Makes Next serve another path than the one that the client has requested.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidPathError } from '../errors.ts'
import { isDecodable } from '../http/decodable.ts'
import { replaceUrl } from './routable-url.ts'

/**
 * Replaces the URL that Next gets.
 *
 * @param path - what the handler of the route has returned, with or without a query
 * @param prefix - the base path of the Next app
 * @throws NEXT_ON_FASTIFY_INVALID_PATH, with status 400 for strings, as they may contain parameters of the client
 */
export function serveOtherPath(request: FastifyRequest, reply: FastifyReply, path: unknown, prefix: string): void {
  assertPath(request, path)
  const [pathname, query] = splitUrl(path)
  if (request.headers['rsc'] === '1') tellOfRewrite(request, reply, pathname.slice(prefix.length) || '/', query)
  replaceUrl(request.raw, withRscParameter(path, query, request.url))
}

/** Parsers differ on other characters. */
const PLAIN = /^\/(?!\/)[!$-[\]-~]*$/
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i

function assertPath({ method, routeOptions }: FastifyRequest, path: unknown): asserts path is string {
  if (typeof path === 'string') {
    const [pathname] = splitUrl(path)
    if (PLAIN.test(path) && !DOT_SEGMENT.test(pathname) && isDecodable(pathname)) return
  }
  const got = typeof path === 'string' ? JSON.stringify(path) : typeof path
  const error = new InvalidPathError(
    `Invalid path from the handler of ${method} ${routeOptions.url}: expected a path such as "/about", got ${got}.`,
  )
  throw Object.assign(error, { statusCode: typeof path === 'string' ? 400 : 500 })
}

function splitUrl(url: string): [pathname: string, query: string] {
  const start = url.indexOf('?')
  return start === -1 ? [url, ''] : [url.slice(0, start), url.slice(start + 1)]
}

/** Next's client reads these headers of a navigation, as after a rewrite of Next itself. */
function tellOfRewrite(request: FastifyRequest, reply: FastifyReply, pathname: string, query: string): void {
  const [requested, requestedQuery] = splitUrl(request.url)
  if (pathname !== requested) reply.header('x-nextjs-rewritten-path', pathname)
  if (query !== requestedQuery) reply.header('x-nextjs-rewritten-query', query)
}

/** Next checks the parameter `_rsc` of navigations, so it is forwarded, as by a rewrite of Next. */
function withRscParameter(path: string, query: string, requested: string): string {
  const value = new URLSearchParams(splitUrl(requested)[1]).get('_rsc')
  if (value === null || new URLSearchParams(query).has('_rsc')) return path
  return `${path}${path.includes('?') ? '&' : '?'}_rsc=${encodeURIComponent(value)}`
}
