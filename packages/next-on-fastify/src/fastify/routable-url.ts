// Routes URLs that Fastify cannot decode. It would respond 400 before any hook runs, but Next must serve them after the
// hooks.

import type { IncomingMessage } from 'node:http'
import { isDecodable } from '../http/decodable.ts'

const originals = new WeakMap<IncomingMessage, string>()

/**
 * Option `rewriteUrl` for `Fastify()`. URLs that Fastify cannot decode then reach its hooks, and Next, which gets them
 * unchanged. {@link createNextOnFastify} sets it.
 *
 * @example
 * const app = Fastify({ rewriteUrl: routableUrl })
 * await app.register(nextPlugin, { dir: './web' })
 */
export function routableUrl(request: IncomingMessage): string {
  const url = request.url!
  const routable = routed(url)
  if (routable !== url) originals.set(request, url)
  return routable
}

/** Restores the original URL of a request for Next. */
export function restoreUrl(request: IncomingMessage): void {
  const url = originals.get(request)
  if (url !== undefined) request.url = url
}

/** Replaces the URL of a request for Next. `originalUrl` of Fastify keeps the one that the client has sent. */
export function replaceUrl(request: IncomingMessage & { originalUrl?: string }, url: string): void {
  request.originalUrl ??= request.url!
  originals.delete(request)
  request.url = url
}

const ABSOLUTE = /^https?:\/\//i

function routed(url: string): string {
  // Such as `OPTIONS *`.
  if (!url.startsWith('/') && !ABSOLUTE.test(url)) return `/${url}`
  const end = url.search(/[?#]/)
  const path = end === -1 ? url : url.slice(0, end)
  if (isDecodable(path)) return url
  return path.replaceAll('%', '%25') + url.slice(path.length)
}
