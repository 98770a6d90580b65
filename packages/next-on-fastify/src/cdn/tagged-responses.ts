// Adds the tags of each response of Next as a header. The response cache records it with the response. A response without
// a complete list of tags must not be stored by a CDN, because no revalidation would remove it there.

import type { ServerResponse } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import onHeaders from 'on-headers'
import type { NextHandler } from '../next/handler-types.ts'
import { collectTags } from '../next/page-cache/request-tags.ts'
import type { TagFormat } from './tag-header.ts'

/** A response whose head is not sent yet. */
interface PendingResponse {
  readonly tags: Set<string>
  /** Whether Next's cache has changed since it began, in an unknown way. */
  isLost: boolean
  /** Tags that were revalidated since it began. */
  readonly revalidated: Set<string>
}

/** Maximum size of recent header values, in bytes. */
const MAX_RECENT_BYTES = 8 * 1024 * 1024

/** Next's own value for responses that nobody may store. */
const NOT_STORED = 'private, no-cache, no-store, max-age=0, must-revalidate'

/** Headers by which CDNs store a response regardless of its `Cache-Control`. */
const OVERRIDES = ['cdn-cache-control', 'cloudflare-cdn-cache-control', 'surrogate-control'] as const

/** The responses of one app. */
export class TaggedResponses {
  readonly #format: TagFormat
  readonly #log: FastifyBaseLogger
  readonly #pending = new Set<PendingResponse>()
  /** Values by host and URL, for requests that Next has coalesced with another one. */
  readonly #recent: LRUCache<string, string>
  #isWarned = false

  constructor(format: TagFormat, log: FastifyBaseLogger) {
    this.#format = format
    this.#log = log
    this.#recent = new LRUCache({
      maxSize: MAX_RECENT_BYTES,
      sizeCalculation: (value, url) => value.length + url.length + 1,
    })
  }

  /** Wraps Next, so that its responses have the header. */
  around(next: NextHandler): NextHandler {
    return async (request, response) => {
      const pending: PendingResponse = { tags: new Set(), isLost: false, revalidated: new Set() }
      const url = `${request.headers.host ?? ''} ${request.url}`
      this.#pending.add(pending)
      onHeaders(response, () => {
        this.#pending.delete(pending)
        this.#beforeHead(url, response, pending)
      })
      try {
        await collectTags(pending.tags, () => next(request, response))
      } finally {
        this.#pending.delete(pending)
      }
    }
  }

  /** Responses with one of the tags that are being rendered have old data. */
  revalidated(tags: readonly string[]): void {
    for (const { revalidated } of this.#pending) {
      for (const tag of tags) revalidated.add(tag)
    }
  }

  /** Any response that is being rendered may have old data. */
  lost(): void {
    for (const pending of this.#pending) pending.isLost = true
  }

  #beforeHead(url: string, response: ServerResponse, pending: PendingResponse): void {
    const state = response.getHeader('x-nextjs-cache')
    const { tags } = pending
    if (state === undefined && tags.size === 0) return
    const value = this.#valueOf(url, tags)
    const isOld = pending.isLost || !tags.isDisjointFrom(pending.revalidated)
    if (value === undefined || isOld) {
      response.setHeader('Cache-Control', NOT_STORED)
      for (const name of OVERRIDES) response.removeHeader(name)
      return
    }
    const { name, separator } = this.#format
    const others = response.getHeader(name)
    response.setHeader(name, others === undefined ? value : [others, value].flat().join(separator))
    if (state === 'STALE') refreshSoon(response)
  }

  #valueOf(url: string, tags: ReadonlySet<string>): string | undefined {
    if (tags.size === 0) return this.#recent.get(url)
    const value = this.#format.valueOf(tags)
    if (value !== undefined) this.#recent.set(url, value)
    else if (!this.#isWarned) {
      this.#isWarned = true
      this.#log.warn(
        { url, tags: tags.size },
        `tags do not fit into ${this.#format.name}: no CDN may store the response`,
      )
    }
    return value
  }
}

/** Next regenerates the page. Otherwise, a CDN would serve the stale one for as long as a fresh one. */
function refreshSoon(response: ServerResponse): void {
  const control = response.getHeader('cache-control')
  if (typeof control === 'string') response.setHeader('Cache-Control', control.replace(/s-maxage=\d+/i, 's-maxage=1'))
}
