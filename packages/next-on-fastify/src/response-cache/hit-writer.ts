import type { ServerResponse } from 'node:http'
import { setImmediate as endOfTick } from 'node:timers/promises'
import { BusyTick } from 'fastify-write-batching/busy-tick'
import { type CachedSpans, isTraced } from '../next/server-spans.ts'
import { acceptsBrotli, BrotliQueue } from './brotli.ts'
import type { KeyInput } from './key.ts'
import type { TappedResponse } from './recorder.ts'
import type { CacheReport } from './cache-counters.ts'
import type { Entry, ResponseStore } from './store.ts'
import { type ReadyResponse, writeResponse } from './ready-response.ts'

/** One promise for all responses of a tick. */
let end: Promise<void> | undefined
const busyTick = new BusyTick(() => {
  end = undefined
})

/** An entry for a request, and its response. If that is tapped, its original methods write. */
type Hit = readonly [
  key: string,
  entry: Entry,
  request: Pick<KeyInput, 'headers' | 'method'>,
  response: ServerResponse,
  tapped?: TappedResponse,
]

/** Writes cached responses. */
export class HitWriter {
  readonly #store: ResponseStore
  readonly #report: CacheReport
  readonly #brotli: BrotliQueue | undefined
  readonly #spans: CachedSpans | undefined

  constructor(store: ResponseStore, report: CacheReport, brotli: boolean, spans?: CachedSpans) {
    this.#store = store
    this.#report = report
    this.#brotli = brotli ? new BrotliQueue() : undefined
    this.#spans = spans
  }

  /** Writes an entry; if the response is tapped, by its original methods. */
  write(...hit: Hit): Promise<void> {
    const [, { route }, , response] = hit
    if (this.#spans === undefined || route === undefined || !isTraced()) return this.#write(...hit)
    return this.#spans.inSpan(route, response, () => this.#write(...hit))
  }

  async #write(...[key, entry, request, response, tapped]: Hit): Promise<void> {
    const ready = this.#brotli === undefined ? entry : this.#byBrotli(this.#brotli, key, entry, request)
    const head = this.#report.hit(response, ready.head)
    if (busyTick.shouldWait(response)) await (end ??= endOfTick())
    writeResponse(response, ready, tapped?.methods, head)
  }

  /** The brotli response, if the client accepts it and it is ready. */
  #byBrotli(
    queue: BrotliQueue,
    key: string,
    entry: Entry,
    { method, headers }: Pick<KeyInput, 'headers' | 'method'>,
  ): ReadyResponse {
    if (entry.status !== 200 || !acceptsBrotli(headers['accept-encoding'])) return entry
    if (entry.brotli !== undefined) return entry.brotli
    if (method === 'HEAD') {
      // The head of GET, which has a body to compress.
      const brotli = this.#store.fresh(`GET${key.slice('HEAD'.length)}`)?.brotli
      return brotli === undefined ? entry : { status: brotli.status, head: brotli.head, body: entry.body }
    }
    const isImmutable = entry.file !== undefined && entry.file.version === undefined
    queue.add(entry, isImmutable, (compressed) => this.#store.addBrotli(key, entry, compressed))
    return entry
  }
}
