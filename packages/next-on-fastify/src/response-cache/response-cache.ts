// Serves responses that Next has declared fresh, without asking it again.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Answer } from '../next/handler.ts'
import { AskedAtOnce, type Awaited } from './in-flight.ts'
import { type Additions, additionsOf, watch } from './middleware/watch-renders.ts'
import { BrotliQueue, takesBrotli } from './brotli.ts'
import type { Build } from './build/build.ts'
import { endOfBusyTurn } from './write-batching.ts'
import type { EarlyProxy } from './middleware/early-middleware.ts'
import { keepable, type Kept, type NotKept } from './policy.ts'
import { gatherReads, onCacheChange, type PageRead } from '../next/page-reads.ts'
import { headersOf, type Passage, passageOf, withPassage } from './middleware/router-headers.ts'
import { CoveredResponse, decisive, headersNow, type RecordedAnswer, type Unrecorded } from './recorder.ts'
import { requestKey, type Asked, type Bypass, type RequestKey } from './key.ts'
import { isUnchanged } from './files.ts'
import { readyAnswer, type ReadyAnswer, writeAnswer } from './writer.ts'

/** Limits of the cache. */
export interface MemoryLimits {
  /** Maximum responses. */
  readonly entries: number
  /** Maximum bytes of all responses. */
  readonly bytes: number
  /** Maximum bytes of one response. */
  readonly entryBytes: number
}

/** Optional features of the cache. */
interface MemoryWays {
  /** Whether each response tells how it was served. */
  readonly explain?: boolean
  /** Whether cached responses are compressed by brotli, too. */
  readonly brotli?: boolean
  /** Whether paths with middleware are cached: renders must be watched. */
  readonly afterProxy?: boolean
  /** Runs the middleware of a request before Next is asked. */
  readonly earlyProxy?: EarlyProxy | undefined
}

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
  notKept: Partial<Record<NotKept | Unrecorded | 'changed', number>>
  /** Responses that were dropped after a revalidation. */
  dropped: number
}

interface Entry extends ReadyAnswer, Kept {
  /** The same response, compressed by brotli. */
  readonly brotli?: ReadyAnswer
}

/** Reasons that usually hold for each response of a path: recording the next ones would be useless. */
const LASTING: ReadonlySet<NotKept | Unrecorded | 'changed'> = new Set([
  'cookie',
  'dynamic',
  'headers',
  'partial',
  'private',
  'reads',
  'too-big',
  'vary',
])

const NO_BODY = Buffer.alloc(0)

/**
 * Maximum times that a request waits for another one: Next has a regenerated page in its cache only for the
 * second one.
 */
const MOST_WAITS = 2

/** How long a path bypasses the cache after a response that was not cached, in ms. It may be another page by then. */
const NOT_KEPT_FOR = 1000

/** The response cache of one Next app. */
export class NextMemory {
  readonly #build: Build
  readonly #limits: MemoryLimits
  readonly #explain: boolean
  readonly #brotli: BrotliQueue | undefined
  readonly #afterProxy: boolean
  readonly #earlyProxy: EarlyProxy | undefined
  readonly #entries: LRUCache<string, Entry>
  /** Until when responses are not recorded, in milliseconds since 1970; 0 if the last one was cached. */
  readonly #notKept: LRUCache<string, number>
  readonly #asking = new AskedAtOnce()
  /**
   * Headers that Next's router sets once middleware has passed a request through: a path with such headers reaches it.
   */
  readonly #passages: LRUCache<string, readonly Passage[]>
  readonly #stop: () => void
  /** When tags that are only stale now will expire. */
  readonly #expiring = new Map<string, number>()
  readonly #counts: MemoryCounts = {
    hits: 0,
    misses: 0,
    bypasses: {},
    earlyProxies: 0,
    kept: 0,
    notKept: {},
    dropped: 0,
  }
  /** Changes of Next's cache. A response that began before one of them is not cached. */
  #changes = 0
  /** Changes that a request caused by regenerating its own page, by the reads of that request. */
  readonly #ownChanges = new WeakMap<readonly PageRead[], number>()

  constructor(
    build: Build,
    limits: MemoryLimits,
    { explain = false, brotli = false, afterProxy = false, earlyProxy }: MemoryWays = {},
  ) {
    this.#build = build
    this.#limits = limits
    this.#explain = explain
    this.#afterProxy = afterProxy
    this.#earlyProxy = earlyProxy
    this.#brotli = brotli ? new BrotliQueue() : undefined
    this.#entries = new LRUCache({
      max: limits.entries,
      maxSize: limits.bytes,
      // An entry takes about a kilobyte besides its body. See docs/measurements.md#entry-size
      sizeCalculation: ({ body, brotli: coded }, key) => body.length + (coded?.body.length ?? 0) + key.length + 1024,
    })
    this.#notKept = new LRUCache({ max: limits.entries })
    this.#passages = new LRUCache({ max: limits.entries })
    this.#stop = onCacheChange({
      replaced: (key, by = []) => {
        this.#changes++
        if (by.some((read) => read.key === key)) this.#ownChanges.set(by, (this.#ownChanges.get(by) ?? 0) + 1)
        this.#drop(({ page }) => page?.key === key && !by.includes(page))
      },
      revalidated: (tags, expireAt) => {
        this.#changes++
        if (expireAt !== undefined) this.#expireAt(tags, expireAt)
        this.#drop(({ page }) => page !== undefined && page.tags.some((tag) => tags.includes(tag)))
      },
      lost: () => {
        this.#changes++
        this.#drop(({ page }) => page !== undefined)
      },
    })
  }

  /** The counters, and the current size of the cache. */
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

  /** Serves a request from the cache, or lets `next` serve it and caches the response if that is allowed. */
  async answer(next: Answer, ...asking: Parameters<Answer>): Promise<void> {
    const [request, response] = asking
    const ask = (): Promise<void> => next(...asking)
    const found = requestKey(request)
    if (typeof found === 'string') return this.#bypass(found, response, ask)
    if (this.#build.isBot(request.headers['user-agent'])) return this.#bypass('bot', response, ask)
    if (this.#build.isProxied(found.path)) {
      const isLeft = !this.#afterProxy || this.#build.isConditional(found.path)
      if (isLeft) return this.#bypass('conditional-path', response, ask)
      return this.#answerAfterProxy(found, ask, ...asking)
    }
    const asked = withHeaders(found, headersNow(response))
    // Responses of a path with conditions were never cached, so a hit needs no check of them.
    const known = this.#lookUp(asked)
    if (known !== undefined) return this.#show(asked, known, request, response)
    await this.#afterOthers(asked, response, (entry) => {
      if (entry !== undefined) return this.#show(asked, entry, request, response)
      if (this.#build.isConditional(found.path)) return this.#bypass('conditional-path', response, ask)
      if (this.#isLeftToNext(asked)) return this.#bypass('not-kept', response, ask)
      return this.#learn(asked, request, new CoveredResponse(response), ask)
    })
  }

  /** Clears the cache, and stops caching. */
  close(): void {
    this.#stop()
    this.#entries.clear()
    this.#notKept.clear()
    this.#passages.clear()
  }

  /** Lets Next run middleware. If it passes the request through unchanged, the cache responds in place of Next. */
  async #answerAfterProxy(found: RequestKey, ask: () => Promise<void>, ...asking: Parameters<Answer>): Promise<void> {
    const [request, response] = asking
    const { method, url, httpVersionMajor } = request
    // Next changes the headers while it serves the request.
    const headers = { ...request.headers }
    this.#explained(response, 'bypass; proxy')
    const before = headersNow(response)
    const asked = withHeaders(found, before)
    const isSame = (additions: Additions): boolean => {
      if (response.statusCode !== 200) return false
      if (Object.keys(additions).length === 0) return true
      const seen = requestKey({ method, url, httpVersionMajor, headers: { ...headers, ...additions } })
      return typeof seen === 'object' && seen.key === found.key && seen.etag === found.etag
    }
    const show = (additions: Additions | undefined, covered?: CoveredResponse): Promise<void> | undefined => {
      const set = additions && headersOf(this.#passages.get(asked.key) ?? [], additions)
      if (!set || !isSame(additions)) return undefined
      const routed = withHeaders(asked, set)
      const entry = this.#lookUp(routed)
      if (entry === undefined) return undefined
      for (const [name, value] of set) response.setHeader(name, value)
      return this.#show(routed, entry, { method, headers }, response, covered)
    }
    // Only these conditions decide whether Next's router runs middleware, and its steps before that.
    if (this.#earlyProxy && this.#build.isAlwaysProxied(found.path) && this.#passages.has(asked.key)) {
      const result = await this.#earlyProxy(...asking)
      if (result !== undefined) this.#counts.earlyProxies++
      const shown = show(additionsOf(result))
      if (shown !== undefined) return shown
    }
    const covered = new CoveredResponse(response)
    let isPassed = false
    watch(
      request,
      async (additions, render) => {
        if (additions === undefined || !isSame(additions)) return render()
        isPassed = true
        const passage = passageOf(response, before, additions)
        if (passage) this.#passages.set(asked.key, withPassage(this.#passages.get(asked.key) ?? [], passage))
        const routed = withHeaders(found, headersNow(response))
        return this.#afterOthers(routed, response, (entry) => {
          if (entry !== undefined) return this.#show(routed, entry, { method, headers }, response, covered)
          if (!this.#isLeftToNext(routed)) return this.#learn(routed, request, covered, render)
          this.#countBypass('not-kept', response)
          return render()
        })
      },
      (additions) => {
        const shown = show(additions, covered)
        isPassed = isPassed || shown !== undefined
        return shown
      },
    )
    await ask()
    if (!isPassed) this.#counts.bypasses.proxy = (this.#counts.bypasses.proxy ?? 0) + 1
  }

  /** Responds from the cache, by the original methods of a covered response. */
  async #show(
    { key }: RequestKey,
    entry: Entry,
    asked: Pick<Asked, 'headers' | 'method'>,
    response: ServerResponse,
    covered?: CoveredResponse,
  ): Promise<void> {
    this.#countHit(response)
    const answer = this.#byBrotli(key, entry, asked)
    const others = endOfBusyTurn(response)
    if (others !== undefined) await others
    writeAnswer(response, answer, covered?.methods)
  }

  /** Whether a response was not cached a moment ago. */
  #isLeftToNext({ kind }: RequestKey): boolean {
    return (this.#notKept.get(kind) ?? 0) > Date.now()
  }

  #countHit(response: ServerResponse): void {
    this.#counts.hits++
    this.#explained(response, 'hit')
  }

  #explained(response: ServerResponse, how: string): void {
    if (this.#explain) response.setHeader('x-next-on-fastify', how)
  }

  /** The brotli response, if the client accepts it and it is ready. */
  #byBrotli(key: string, entry: Entry, { method, headers }: Pick<Asked, 'headers' | 'method'>): ReadyAnswer {
    if (this.#brotli === undefined) return entry
    if (entry.status !== 200 || !takesBrotli(headers['accept-encoding'])) return entry
    if (entry.brotli !== undefined) return entry.brotli
    if (method === 'HEAD') {
      // The same as for GET, which has a body to compress.
      const got = this.#fresh(`GET${key.slice('HEAD'.length)}`)?.brotli
      return got === undefined ? entry : { status: got.status, head: got.head, body: entry.body }
    }
    this.#brotli.add(entry, entry.file !== undefined && entry.file.version === undefined, (coded) => {
      // The entry may have been dropped since.
      if (this.#entries.peek(key) === entry) this.#entries.set(key, { ...entry, brotli: readyAnswer(coded) })
    })
    return entry
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
    const { until, file, page } = entry
    const there = file === undefined ? (page?.version?.isCurrent() ?? true) : isUnchanged(file)
    if (there && until >= Date.now()) return entry
    this.#entries.delete(key)
    return undefined
  }

  /**
   * Continues with the cached response once no other request for the same is being served. It does so synchronously, so
   * that no other request asks Next in between, and only for a client that is still there.
   */
  async #afterOthers(
    asked: RequestKey,
    response: ServerResponse,
    goOn: (entry: Entry | undefined) => Promise<void>,
  ): Promise<void> {
    let entry = this.#lookUp(asked)
    for (let waits = 0; entry === undefined && waits < MOST_WAITS; waits++) {
      const answered = this.#asking.answered(sameAnswer(asked), this.#changes)
      if (answered === undefined) break
      await answered
      if (response.destroyed) return
      entry = this.#lookUp(asked)
    }
    return goOn(entry)
  }

  async #bypass(
    why: keyof MemoryCounts['bypasses'],
    response: ServerResponse,
    ask: () => Promise<void>,
  ): Promise<void> {
    this.#countBypass(why, response)
    await ask()
  }

  #countBypass(why: keyof MemoryCounts['bypasses'], response: ServerResponse): void {
    const { bypasses } = this.#counts
    bypasses[why] = (bypasses[why] ?? 0) + 1
    this.#explained(response, `bypass; ${why}`)
  }

  async #learn(
    asked: RequestKey,
    request: IncomingMessage,
    covered: CoveredResponse,
    next: () => Promise<void>,
  ): Promise<void> {
    this.#counts.misses++
    this.#explained(covered.response, 'miss')
    const { kind } = asked
    // Next may change the request while it serves it.
    const bodiless = request.method === 'HEAD'
    const changes = this.#changes
    const reads: PageRead[] = []
    const awaited = this.#othersWait(asked, covered.response)
    covered.record(this.#limits.entryBytes, {
      headed: () => awaited?.headed(),
      recorded: (answer) => {
        const entry = this.#entryOf(asked, answer, reads, changes, bodiless)
        if (typeof entry === 'string') {
          this.#counts.notKept[entry] = (this.#counts.notKept[entry] ?? 0) + 1
          if (LASTING.has(entry)) this.#notKept.set(kind, Date.now() + NOT_KEPT_FOR)
        } else {
          this.#counts.kept++
          this.#notKept.set(kind, 0)
          this.#entries.set(entry.status === 304 ? sameAnswer(asked) : asked.key, entry)
        }
        awaited?.ended()
      },
    })
    try {
      await gatherReads(reads, next)
    } catch (error) {
      // Something else responds then.
      covered.refuse('failed')
      throw error
    }
  }

  /** Lets other requests wait for this response, if it is likely to be cached. */
  #othersWait(asked: RequestKey, { socket }: ServerResponse): Awaited | undefined {
    // A pipelined response waits for an earlier one, which could in turn wait for this one.
    if (socket === null) return undefined
    const notKept = this.#notKept.get(asked.kind)
    const isToKeep = notKept === undefined ? this.#build.isMade(asked.path) : notKept === 0
    return isToKeep ? this.#asking.begin(sameAnswer(asked), this.#changes) : undefined
  }

  /** Returns the cache entry of a response, or why there is none. */
  #entryOf(
    asked: RequestKey,
    answer: RecordedAnswer | Unrecorded,
    reads: readonly PageRead[],
    changes: number,
    bodiless: boolean,
  ): Entry | NotKept | Unrecorded | 'changed' {
    if (typeof answer === 'string') return answer
    const kept = keepable(this.#build, asked.path, answer, reads, Date.now())
    if (typeof kept === 'string') return kept
    if (changes + (this.#ownChanges.get(reads) ?? 0) !== this.#changes) return 'changed'
    const unmodified = answer.status === 304
    if (unmodified && (asked.etag === undefined || asked.etag !== strong(kept.etag ?? ''))) return 'condition'
    const until = Math.min(kept.until, ...this.#expiriesOf(kept.page))
    if (until < Date.now()) return 'lifetime'
    const { status, head } = answer
    const body = unmodified || bodiless ? NO_BODY : answer.body
    return { ...readyAnswer({ status, head, body }), ...kept, until }
  }

  #drop(isStale: (entry: Entry) => boolean): void {
    for (const [key, entry] of this.#entries.entries()) {
      if (isStale(entry) && this.#entries.delete(key)) this.#counts.dropped++
    }
  }

  /** A tag may be stale now and expire later, also for a page that is rendered in between. */
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

/** Distinguishes requests by the headers set for their responses, too. */
function withHeaders(asked: RequestKey, headers: Iterable<readonly [name: string, value: string]>): RequestKey {
  const set = decisive(headers)
  // Usually there are none.
  return set === '' ? asked : { ...asked, key: asked.key + set, kind: asked.kind + set }
}

/** Requests with the same key get the same response while nothing changes. */
function sameAnswer({ key, etag }: RequestKey): string {
  return etag === undefined ? key : unmodifiedKey(key, etag)
}

function unmodifiedKey(key: string, etag: string): string {
  return `${key}\nif-none-match: ${etag}`
}

function strong(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag
}
