// Counters of the response cache, and the header that shows how a response was served.

import type { ServerResponse } from 'node:http'
import type { Bypass } from './key.ts'
import type { UncacheableReason } from './policy.ts'
import type { Unrecordable } from './recorder.ts'

/** Counters since the start. */
export interface MemoryCounts {
  /** Responses from the cache. */
  hits: number
  /** Cacheable requests that Next has served. */
  misses: number
  /** Requests that bypass the cache, by reason. */
  bypasses: Partial<Record<Bypass | 'bot' | 'conditional-path' | 'not-kept' | 'proxy', number>>
  /** Requests whose middleware ran before Next's router. */
  earlyProxies: number
  /** Responses of Next that were cached. */
  kept: number
  /** Responses of Next that were not cached, by reason. */
  notKept: Partial<Record<UncacheableReason | Unrecordable | 'changed', number>>
}

/** Counts how requests are served. */
export class CacheReport {
  readonly counts: MemoryCounts = { hits: 0, misses: 0, bypasses: {}, earlyProxies: 0, kept: 0, notKept: {} }
  readonly #hasHeader: boolean

  constructor(hasHeader: boolean) {
    this.#hasHeader = hasHeader
  }

  hit(response: ServerResponse): void {
    this.counts.hits++
    this.header(response, 'hit')
  }

  miss(response: ServerResponse): void {
    this.counts.misses++
    this.header(response, 'miss')
  }

  bypass(reason: keyof MemoryCounts['bypasses'], response: ServerResponse): void {
    const { bypasses } = this.counts
    bypasses[reason] = (bypasses[reason] ?? 0) + 1
    this.header(response, `bypass; ${reason}`)
  }

  notKept(reason: keyof MemoryCounts['notKept']): void {
    const { notKept } = this.counts
    notKept[reason] = (notKept[reason] ?? 0) + 1
  }

  header(response: ServerResponse, how: string): void {
    if (this.#hasHeader) response.setHeader('x-next-on-fastify', how)
  }
}
