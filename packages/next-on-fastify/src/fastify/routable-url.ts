// What Fastify's router cannot decode it answers itself, before any hook: Next is to be asked, behind the hooks.

import type { IncomingMessage } from 'node:http'
import { isDecodable } from '../http/decodable.ts'

const sent = new WeakMap<IncomingMessage, string>()

/**
 * Option `rewriteUrl` for `Fastify()`: lets URLs that Fastify cannot decode reach its hooks, and Next, which gets them as
 * they were sent. {@link createNextOnFastify} sets it.
 *
 * @example
 * const app = Fastify({ rewriteUrl: routableUrl })
 * await app.register(nextPlugin, { dir: './web' })
 */
export function routableUrl(request: IncomingMessage): string {
  const url = request.url!
  const routable = routed(url)
  if (routable !== url) sent.set(request, url)
  return routable
}

/** Gives a request that is handed to Next the URL back that it was sent with. */
export function restoreUrl(request: IncomingMessage): void {
  const url = sent.get(request)
  if (url !== undefined) request.url = url
}

const ABSOLUTE = /^https?:\/\//i

function routed(url: string): string {
  // As of `OPTIONS *`.
  if (!url.startsWith('/') && !ABSOLUTE.test(url)) return `/${url}`
  const end = url.search(/[?#]/)
  const path = end === -1 ? url : url.slice(0, end)
  if (isDecodable(path)) return url
  return path.replaceAll('%', '%25') + url.slice(path.length)
}
