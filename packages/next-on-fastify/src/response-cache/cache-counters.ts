// Counts how requests are served, and shows it in the `Cache-Status` header.

import type { ServerResponse } from 'node:http'
import {
  bypassStatus,
  cacheStatusOf,
  COLLAPSED,
  forwardStatus,
  HIT,
  setCacheStatus,
  withHit,
  withoutHit,
} from './cache-status.ts'
import type { Bypass } from './key.ts'
import type { UncacheableReason } from './policy.ts'
import type { Unrecordable } from './recorder.ts'

/** Why a request bypasses the cache. */
export type BypassReason = Bypass | 'bot' | 'conditional-path' | 'proxy' | 'uncacheable'

/** Why a response is not stored. */
export type NotStoredReason = UncacheableReason | Unrecordable | 'changed'

/** Counters since the start. */
interface ResponseCacheCounts {
  /** Responses from the cache. */
  hits: number
  /** Cacheable requests that Next has served. */
  misses: number
  /** Requests that bypassed the cache, by reason. */
  bypasses: Partial<Record<BypassReason, number>>
  /** Requests whose middleware ran before Next's router. */
  earlyMiddleware: number
  /** Responses of Next that were stored. */
  stored: number
  /** Responses of Next that were not stored, by reason. */
  notStored: Partial<Record<NotStoredReason, number>>
}

/** Counters of the cache, and its current size. */
export interface ResponseCacheStats extends Readonly<ResponseCacheCounts> {
  /** Responses that were deleted after a revalidation. */
  readonly invalidated: number
  /** Responses in the cache. */
  readonly entries: number
  /** Size of the cache, in bytes. */
  readonly bytes: number
}

/** Reports how requests are served. */
export class CacheReport {
  readonly counts: ResponseCacheCounts = {
    hits: 0,
    misses: 0,
    bypasses: {},
    earlyMiddleware: 0,
    stored: 0,
    notStored: {},
  }
  /** Whether responses have a `Cache-Status` header. */
  readonly hasHeader: boolean

  constructor(hasHeader: boolean) {
    this.hasHeader = hasHeader
  }

  /** Reports a hit, and returns the head to send. The member for hits is part of a cached head, to save time. */
  hit(response: ServerResponse, head: readonly string[]): readonly string[] {
    this.counts.hits++
    if (!this.hasHeader) return head
    const member = cacheStatusOf(response)
    if (member === undefined && !response.hasHeader('cache-status')) return head
    if (member !== COLLAPSED) setCacheStatus(response, HIT)
    return withoutHit(head)
  }

  /** The head of a response to store. */
  storedHead(head: readonly string[]): readonly string[] {
    return this.hasHeader ? withHit(head) : head
  }

  /** Reports a request that waited for a concurrent one. */
  collapsed(response: ServerResponse): void {
    if (this.hasHeader) setCacheStatus(response, COLLAPSED)
  }

  /** Reports a miss. Call it before the response is tapped, because the header must not be recorded. */
  miss(response: ServerResponse): void {
    this.counts.misses++
    this.forwarded(response, false, false)
  }

  /** Shows that Next serves a request. */
  forwarded(response: ServerResponse, isStale: boolean, isStored: boolean): void {
    if (this.hasHeader) setCacheStatus(response, forwardStatus(isStale, isStored))
  }

  bypass(reason: BypassReason, response: ServerResponse): void {
    const { bypasses } = this.counts
    bypasses[reason] = (bypasses[reason] ?? 0) + 1
    this.bypassed(reason, response)
  }

  /** Shows that a request bypasses the cache, unless a later report replaces that. */
  bypassed(reason: BypassReason, response: ServerResponse): void {
    if (this.hasHeader) setCacheStatus(response, bypassStatus(reason))
  }

  notStored(reason: NotStoredReason): void {
    const { notStored } = this.counts
    notStored[reason] = (notStored[reason] ?? 0) + 1
  }
}
