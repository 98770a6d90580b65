// The `Cache-Status` header of RFC 9211. Each cache on the way appends a member.

import type { ServerResponse } from 'node:http'
import onHeaders from 'on-headers'
import { pairsOf } from './response-headers.ts'

const CACHE = 'next-on-fastify'

/** The member for a response from the cache. */
export const HIT: string = `${CACHE}; hit`

/** The member for a response that Next has rendered for a concurrent request. */
export const COLLAPSED: string = `${CACHE}; fwd=miss; collapsed`

/** The member for a request that bypassed the cache. All reasons are tokens, which need no quotes. */
export function bypassStatus(reason: string): string {
  return reason === 'method' ? `${CACHE}; fwd=method` : `${CACHE}; fwd=bypass; detail=${reason}`
}

/** The member for a request that Next has served. */
export function forwardStatus(isStale: boolean, isStored: boolean): string {
  return `${CACHE}; fwd=${isStale ? 'stale' : 'miss'}${isStored ? '; stored' : ''}`
}

const members = new WeakMap<ServerResponse, string>()

/** Appends a member when the head is written. A later call replaces the member. */
export function setCacheStatus(response: ServerResponse, member: string): void {
  if (!members.has(response)) onHeaders(response, () => append(response))
  members.set(response, member)
}

/** The member that will be appended. */
export function cacheStatusOf(response: ServerResponse): string | undefined {
  return members.get(response)
}

/** The head of a cached response, with the member for hits. */
export function withHit(head: readonly string[]): readonly string[] {
  return [...head, 'Cache-Status', HIT]
}

/** The head of a cached response, without the member for hits. */
export function withoutHit(head: readonly string[]): readonly string[] {
  return pairsOf(head)
    .filter(([, value]) => value !== HIT)
    .flat()
}

function append(response: ServerResponse): void {
  const others = response.getHeader('cache-status')
  const all = [others ?? [], members.get(response)!].flat()
  response.setHeader('Cache-Status', all.join(', '))
}
