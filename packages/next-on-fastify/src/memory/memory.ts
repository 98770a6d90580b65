// Answers that Next has declared fresh, served without asking it again.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Build } from './build.ts'
import { keepable, type Kept, type NotKept } from './keepable.ts'
import { gatherReads, onCacheChange, type PageRead } from './page-reads.ts'
import { recordAnswer, type RecordedAnswer, type Unrecorded } from './recorded-answer.ts'
import { requestKey, type Bypass, type RequestKey } from './request-key.ts'
import { isUnchanged } from './served-file.ts'

/** How much is kept. */
export interface MemoryLimits {
  /** Answers. */
  readonly entries: number
  /** Bytes of all answers. */
  readonly bytes: number
  /** Bytes of one answer. */
  readonly entryBytes: number
}

/** How often what happened since the start. */
export interface MemoryCounts {
  /** Answers from memory. */
  hits: number
  /** Requests that could have been answered from memory, and were answered by Next. */
  misses: number
  /** Requests that are none for the memory, by reason. */
  bypasses: Partial<Record<Bypass | 'conditional-path' | 'header-conflict', number>>
  /** Answers of Next that were kept. */
  kept: number
  /** Answers of Next that were not kept, by reason. */
  notKept: Partial<Record<NotKept | Unrecorded | 'changed', number>>
  /** Answers that were dropped since something was revalidated. */
  dropped: number
}

interface Entry extends RecordedAnswer, Kept {}

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** Answers of one Next app. */
export class NextMemory {
  readonly #build: Build
  readonly #limits: MemoryLimits
  readonly #explain: boolean
  readonly #entries: LRUCache<string, Entry>
  readonly #stop: () => void
  /** When tags that are only stale now will be gone. */
  readonly #expiring = new Map<string, number>()
  readonly #counts: MemoryCounts = { hits: 0, misses: 0, bypasses: {}, kept: 0, notKept: {}, dropped: 0 }
  /** Changes of Next's cache: what was begun before one of them is not kept. */
  #changes = 0

  constructor(build: Build, limits: MemoryLimits, explain: boolean) {
    this.#build = build
    this.#limits = limits
    this.#explain = explain
    this.#entries = new LRUCache({
      max: limits.entries,
      maxSize: limits.bytes,
      // What an entry takes beside its body, measured on Node 24: about a kilobyte.
      sizeCalculation: ({ body }, key) => body.length + key.length + 1024,
    })
    this.#stop = onCacheChange({
      replaced: (key) => {
        this.#changes++
        this.#drop(({ page }) => page?.key === key)
      },
      revalidated: (tags, expireAt) => {
        this.#changes++
        if (expireAt !== undefined) this.#expireAt(tags, expireAt)
        this.#drop(({ page }) => page !== undefined && page.tags.some((tag) => tags.includes(tag)))
      },
    })
  }

  /** How often what happened, and what is kept now. */
  get counts(): Readonly<MemoryCounts> & { readonly entries: number; readonly bytes: number } {
    const { bypasses, notKept, ...rest } = this.#counts
    return {
      ...rest,
      bypasses: { ...bypasses },
      notKept: { ...notKept },
      entries: this.#entries.size,
      bytes: this.#entries.calculatedSize,
    }
  }

  /** Answers a request from memory, or lets `next` answer it and keeps what may be kept. */
  async answer(next: Answer, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const found = requestKey(request)
    if (typeof found === 'string') return this.#bypass(found, request, response, next)
    if (this.#build.isConditional(found.path)) return this.#bypass('conditional-path', request, response, next)

    const entry = this.#lookUp(found)
    if (entry === undefined) return this.#learn(found, request, response, next)
    if (hasAnyHeaderOf(response, entry)) return this.#bypass('header-conflict', request, response, next)
    this.#counts.hits++
    if (this.#explain) response.setHeader('x-next-on-fastify', 'hit')
    response.writeHead(entry.status, entry.head as string[])
    response.end(entry.body)
  }

  /** Forgets all, and learns nothing more. */
  close(): void {
    this.#stop()
    this.#entries.clear()
  }

  #lookUp({ key, etag }: RequestKey): Entry | undefined {
    if (etag === undefined) return this.#fresh(key)
    const unmodified = this.#fresh(unmodifiedKey(key, etag))
    if (unmodified !== undefined) return unmodified
    const entry = this.#fresh(key)
    return entry?.etag === undefined || strong(entry.etag) === etag ? undefined : entry
  }

  #fresh(key: string): Entry | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    const { until, file } = entry
    if (until >= Date.now() && (file === undefined || isUnchanged(file))) return entry
    this.#entries.delete(key)
    return undefined
  }

  async #bypass(
    why: keyof MemoryCounts['bypasses'],
    request: IncomingMessage,
    response: ServerResponse,
    next: Answer,
  ): Promise<void> {
    const { bypasses } = this.#counts
    bypasses[why] = (bypasses[why] ?? 0) + 1
    if (this.#explain) response.setHeader('x-next-on-fastify', `bypass; ${why}`)
    await next(request, response)
  }

  async #learn(
    { key, path, etag }: RequestKey,
    request: IncomingMessage,
    response: ServerResponse,
    next: Answer,
  ): Promise<void> {
    this.#counts.misses++
    if (this.#explain) response.setHeader('x-next-on-fastify', 'miss')
    // Next may write to the request while it answers.
    const bodiless = request.method === 'HEAD'
    const changes = this.#changes
    const reads: PageRead[] = []
    recordAnswer(response, this.#limits.entryBytes, (answer) => {
      const kept = this.#keep(key, path, etag, answer, reads, changes, bodiless)
      if (kept === undefined) this.#counts.kept++
      else this.#counts.notKept[kept] = (this.#counts.notKept[kept] ?? 0) + 1
    })
    await gatherReads(reads, () => next(request, response))
  }

  /** Keeps an answer, or tells why not. */
  #keep(
    key: string,
    path: string,
    asked: string | undefined,
    answer: RecordedAnswer | Unrecorded,
    reads: readonly PageRead[],
    changes: number,
    bodiless: boolean,
  ): keyof MemoryCounts['notKept'] | undefined {
    if (typeof answer === 'string') return answer
    const kept = keepable(this.#build, path, answer, reads, Date.now())
    if (typeof kept === 'string') return kept
    if (changes !== this.#changes) return 'changed'
    const unmodified = answer.status === 304
    if (unmodified && (asked === undefined || asked !== strong(kept.etag ?? ''))) return 'condition'
    const until = Math.min(kept.until, ...this.#expiriesOf(kept.page))
    if (until < Date.now()) return 'lifetime'
    this.#entries.set(unmodified ? unmodifiedKey(key, asked ?? '') : key, {
      ...answer,
      ...kept,
      until,
      body: unmodified || bodiless ? Buffer.alloc(0) : answer.body,
    })
    return undefined
  }

  #drop(isStale: (entry: Entry) => boolean): void {
    for (const [key, entry] of this.#entries.entries()) {
      if (isStale(entry) && this.#entries.delete(key)) this.#counts.dropped++
    }
  }

  /** A tag may be stale now and gone later: also for a page that is made in between. */
  #expireAt(tags: readonly string[], expireAt: number): void {
    const now = Date.now()
    for (const [tag, at] of this.#expiring) {
      if (at < now) this.#expiring.delete(tag)
    }
    for (const tag of tags) this.#expiring.set(tag, Math.min(expireAt, this.#expiring.get(tag) ?? Infinity))
  }

  #expiriesOf(page: PageRead | undefined): number[] {
    const now = Date.now()
    return (page?.tags ?? []).flatMap((tag) => this.#expiring.get(tag) ?? []).filter((at) => at >= now)
  }
}

/** Whether something other than Next has set a header that Next sets too. */
function hasAnyHeaderOf(response: ServerResponse, { head }: Entry): boolean {
  if (response.getHeaderNames().length === 0) return false
  return head.some((nameOrValue, index) => index % 2 === 0 && response.hasHeader(nameOrValue))
}

function unmodifiedKey(key: string, etag: string): string {
  return `${key}\nif-none-match: ${etag}`
}

function strong(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag
}
