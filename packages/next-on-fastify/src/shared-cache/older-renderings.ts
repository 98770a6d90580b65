// Next coalesces requests for a page: requests that arrive while it is rendered get the same result. After a revalidation,
// a request must not get a page whose rendering began before. So it waits for the end of that, and Next renders again.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import onHeaders from 'on-headers'
import { outsideRequests } from '../async-context/outside-requests.ts'
import { pagePathOf } from '../next/page-cache/cache-handler-types.ts'
import type { NextHandler } from '../next/handler-types.ts'

/** A request that Next is serving. */
interface ActiveRequest {
  readonly path: string
  readonly response: ServerResponse
  readonly pages: PendingPage[]
}

/** Maximum time that requests wait for a page, in ms. */
const MAX_WAIT = 10_000
const MAX_PATHS = 10_000

const activeRequest = new AsyncLocalStorage<ActiveRequest>()
const pending = new Set<PendingPage>()
/** Keys of pages that were requested by another path, as with rewrites. */
const keysOf = new LRUCache<string, string>({ max: MAX_PATHS })

/** A page that Next has looked up, and renders if it is missing or stale. */
export class PendingPage {
  readonly key: string
  /** The position in the log of changes at the lookup. */
  readonly since: number
  /** The path of the request. */
  readonly path: string
  readonly ended: Promise<void>
  /** Whether storing has begun. */
  isStored = false
  #end!: () => void

  constructor(key: string, since: number, path: string) {
    this.key = key
    this.since = since
    this.path = path
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  /** Lets waiting requests continue, once Next has removed the page from its own list. */
  end(): void {
    setImmediate(() => {
      pending.delete(this)
      this.#end()
    })
  }

  /** Ends the page after the maximum wait, unless it has ended by then. */
  endLater(): void {
    outsideRequests(() => setTimeout(() => this.end(), MAX_WAIT).unref())
  }
}

/** Records that Next looks up a page. */
export function beginPage(key: string, since: number): PendingPage {
  const request = activeRequest.getStore()
  const page = new PendingPage(key, since, request?.path ?? '')
  pending.add(page)
  if (request === undefined) {
    page.endLater()
    return page
  }
  request.pages.push(page)
  // At the head, because a slow client would hold up others until the end.
  if (request.pages.length === 1) onHeaders(request.response, () => settle(request))
  if (request.path !== pagePathOf(key)) keysOf.set(request.path, key)
  return page
}

/** Whether a page is being looked up or rendered. */
export function isPending(key: string): boolean {
  return pending.values().some((page) => page.key === key)
}

/** Ends lookups that Next has coalesced with a page that is regenerated on demand. */
export function endJoined({ key, since }: PendingPage): void {
  for (const page of pending) {
    if (page.key === key && page.since >= since) page.end()
  }
}

/** Serves a request by Next, after pages whose rendering began before a revalidation. */
export function afterOlderPages(next: NextHandler, position: () => number): NextHandler {
  return async (request, response) => {
    const path = pathOf(request)
    if (pending.size > 0) await olderPages(path, position())
    const active: ActiveRequest = { path, response, pages: [] }
    try {
      await activeRequest.run(active, () => next(request, response))
    } finally {
      settle(active)
    }
  }
}

async function olderPages(path: string, position: number): Promise<void> {
  const key = keysOf.get(path)
  const older = [...pending].filter((page) => page.since < position && isSame(page, path, key))
  await Promise.all(older.map(({ ended }) => ended))
}

/** Ends the pages of a served request, except pages that are being stored, or regenerated in the background. */
function settle({ pages, response }: ActiveRequest): void {
  const isStale = response.getHeader('x-nextjs-cache') === 'STALE'
  for (const page of pages.splice(0)) {
    if (page.isStored) continue
    if (isStale) page.endLater()
    else page.end()
  }
}

/** Whether a path may be this page. Prefixes, such as a base path or a locale, may be in one of the two only. */
function isSame(page: PendingPage, path: string, key: string | undefined): boolean {
  if (page.path === path || page.key === key) return true
  const pagePath = pagePathOf(page.key)
  return path.endsWith(pagePath) || pagePath.endsWith(path)
}

/** The path of a request, or of its page if it requests data. */
function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.search(/[?#]/)
  const path = end === -1 ? url : url.slice(0, end)
  const plain = pageOfData(path) ?? path
  return plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain
}

const DATA = '/_next/data/'

/** The path of a page, by the path of its data: `[basePath]/_next/data/<build ID><page>.json`. Next names pages there as in cache keys. */
function pageOfData(path: string): string | undefined {
  const start = path.indexOf(DATA)
  if (start === -1 || !path.endsWith('.json')) return undefined
  const page = path.indexOf('/', start + DATA.length)
  return page === -1 ? undefined : pagePathOf(path.slice(page, -'.json'.length))
}
