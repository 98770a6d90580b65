import type { ServerResponse } from 'node:http'
import onHeaders from 'on-headers'
import vary from 'vary'

/**
 * Merges `Vary` and cookies of hooks into Next's, which overwrites both. Otherwise a cache would serve the response for
 * one origin to another one, and a session would be lost.
 */
export function mergeHeaders(response: ServerResponse): void {
  const fields = response.getHeader('vary')
  if (fields !== undefined) onHeaders(response, () => vary(response, String(fields)))
  const cookies = cookiesOf(response)
  if (cookies.length > 0) onHeaders(response, () => mergeCookies(response, cookies))
}

function mergeCookies(response: ServerResponse, cookies: readonly string[]): void {
  const now = cookiesOf(response)
  const lost = cookies.filter((cookie) => !now.includes(cookie))
  if (lost.length > 0) response.setHeader('set-cookie', [...lost, ...now])
}

function cookiesOf(response: ServerResponse): string[] {
  const cookies = response.getHeader('set-cookie')
  return cookies === undefined ? [] : [cookies].flat().map(String)
}
