// Answers that Next has declared fresh, served without asking it again.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Answer } from '../answer.ts'
import { AskedAtOnce, type Awaited } from './asked-at-once.ts'
import { type Additions, additionsOf, watch } from './after-proxy.ts'
import { BrotliQueue, takesBrotli } from './brotli.ts'
import type { Build } from './build.ts'
import { endOfBusyTurn } from './busy-turns.ts'
import type { EarlyProxy } from './early-proxy.ts'
import { keepable, type Kept, type NotKept } from './keepable.ts'
import { gatherReads, onCacheChange, type PageRead } from './page-reads.ts'
import { headersOf, type Passage, passageOf, withPassage } from './passage.ts'
import { CoveredResponse, decisive, headersNow, type RecordedAnswer, type Unrecorded } from './recorded-answer.ts'
import { requestKey, type Asked, type Bypass, type RequestKey } from './request-key.ts'
import { isUnchanged } from './served-file.ts'
import { readyAnswer, type ReadyAnswer, writeAnswer } from './written-answer.ts'

/** How much is kept. */
export interface MemoryLimits {
  /** Answers. */
  readonly entries: number
  /** Bytes of all answers. */
  readonly bytes: number
  /** Bytes of one answer. */
  readonly entryBytes: number
}

/** What is done beside keeping answers. */
interface MemoryWays {
  /** Whether each answer tells how it came about. */
  readonly explain?: boolean
  /** Whether what is kept is compressed by brotli, too. */
  readonly brotli?: boolean
  /** Whether paths are kept that a proxy sees: what is rendered must be watched. */
  readonly afterProxy?: boolean
  /** Runs the proxy of a request before Next is asked. */
  readonly earlyProxy?: EarlyProxy | undefined
}

/** How often what happened since the start. */
export interface MemoryCounts {
  /** Answers from memory. */
  hits: number
  /** Requests that could have been answered from memory, and were answered by Next. */
  misses: number
  /** Requests that are none for the memory, by reason. */
  bypasses: Partial<Record<Bypass | 'bot' | 'conditional-path' | 'not-kept' | 'proxy', number>>
  /** Requests of which the proxy has run before Next's router was asked. */
  earlyProxies: number
  /** Answers of Next that were kept. */
  kept: number
  /** Answers of Next that were not kept, by reason. */
  notKept: Partial<Record<NotKept | Unrecorded | 'changed', number>>
  /** Answers that were dropped since something was revalidated. */
  dropped: number
}

interface Entry extends ReadyAnswer, Kept {
  /** The same, compressed by brotli. */
  readonly brotli?: ReadyAnswer
}

/** What holds for each answer to a path, as a rule: to record the next ones would be for nothing. */
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

/** How often a request waits for another one: what Next makes anew, it only has in its cache for the second one. */
const MOST_WAITS = 2

/** How long a path whose answer was not kept is left to Next, in milliseconds: it may be another page by then. */
const NOT_KEPT_FOR = 1000

/** Answers of one Next app. */
export class NextMemory {
  readonly #build: Build
  readonly #limits: MemoryLimits
  readonly #explain: boolean
  readonly #brotli: BrotliQueue | undefined
  readonly #afterProxy: boolean
  readonly #earlyProxy: EarlyProxy | undefined
  readonly #entries: LRUCache<string, Entry>
  /** Until when answers to what is asked for are not recorded, in milliseconds since 1970; 0 where the last one was kept. */
  readonly #notKept: LRUCache<string, number>
  readonly #asking = new AskedAtOnce()
  /** What Next's router sets once the proxy has let a request pass: what has such, comes to the proxy. */
  readonly #passages: LRUCache<string, readonly Passage[]>
  readonly #stop: () => void
  /** When tags that are only stale now will be gone. */
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
  /** Changes of Next's cache: what was begun before one of them is not kept. */
  #changes = 0
  /** Of them, those that a request has begun by having its page made anew, by what was read for it. */
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
      // What an entry takes beside its body, measured on Node 24: about a kilobyte.
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
    // Of a path on which there are conditions nothing was learned: what is there needs no look at them.
    const known = this.#lookUp(asked)
    if (known !== undefined) return this.#show(asked, known, request, response)
    await this.#afterOthers(asked, response, (entry) => {
      if (entry !== undefined) return this.#show(asked, entry, request, response)
      if (this.#build.isConditional(found.path)) return this.#bypass('conditional-path', response, ask)
      if (this.#isLeftToNext(asked)) return this.#bypass('not-kept', response, ask)
      return this.#learn(asked, request, new CoveredResponse(response), ask)
    })
  }

  /** Forgets all, and learns nothing more. */
  close(): void {
    this.#stop()
    this.#entries.clear()
    this.#notKept.clear()
    this.#passages.clear()
  }

  /** Lets Next run the proxy, and answers in place of what it would do then where that has let the request pass as it is. */
  async #answerAfterProxy(found: RequestKey, ask: () => Promise<void>, ...asking: Parameters<Answer>): Promise<void> {
    const [request, response] = asking
    const { method, url, httpVersionMajor } = request
    // Next writes to the headers while it answers.
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
    // What Next's router does before it runs the proxy, and whether it comes to that, does not depend on more than is asked.
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

  /** Answers from memory; past what has covered the response, where it is covered. */
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

  /** Whether an answer was not kept a moment ago. */
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

  /** An answer by brotli where the client takes that, as soon as it is there. */
  #byBrotli(key: string, entry: Entry, { method, headers }: Pick<Asked, 'headers' | 'method'>): ReadyAnswer {
    if (this.#brotli === undefined) return entry
    if (entry.status !== 200 || !takesBrotli(headers['accept-encoding'])) return entry
    if (entry.brotli !== undefined) return entry.brotli
    if (method === 'HEAD') {
      // As it would be to GET, which has a body to compress.
      const got = this.#fresh(`GET${key.slice('HEAD'.length)}`)?.brotli
      return got === undefined ? entry : { status: got.status, head: got.head, body: entry.body }
    }
    this.#brotli.add(entry, entry.file !== undefined && entry.file.version === undefined, (coded) => {
      // It may have been dropped since.
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
   * Goes on with what is kept when no other request for the same is being answered, at once, so that no other one asks Next in
   * between. For a client that has left meanwhile it does not.
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
    // Next may write to the request while it answers.
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
      // Something else answers then.
      covered.refuse('failed')
      throw error
    }
  }

  /** Has others wait for an answer that will be kept, as it looks. */
  #othersWait(asked: RequestKey, { socket }: ServerResponse): Awaited | undefined {
    // It would wait for another answer of its connection, and that perhaps for one of these.
    if (socket === null) return undefined
    const notKept = this.#notKept.get(asked.kind)
    const isToKeep = notKept === undefined ? this.#build.isMade(asked.path) : notKept === 0
    return isToKeep ? this.#asking.begin(sameAnswer(asked), this.#changes) : undefined
  }

  /** What there is to keep of an answer, or why there is nothing. */
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

/** Tells requests apart by what is set for their answers, too. */
function withHeaders(asked: RequestKey, headers: Iterable<readonly [name: string, value: string]>): RequestKey {
  const set = decisive(headers)
  // As a rule there are none.
  return set === '' ? asked : { ...asked, key: asked.key + set, kind: asked.kind + set }
}

/** Requests with the same one get the same answer while nothing changes. */
function sameAnswer({ key, etag }: RequestKey): string {
  return etag === undefined ? key : unmodifiedKey(key, etag)
}

function unmodifiedKey(key: string, etag: string): string {
  return `${key}\nif-none-match: ${etag}`
}

function strong(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag
}
