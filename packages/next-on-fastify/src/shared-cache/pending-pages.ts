// Requests for a page that come while it is being made get what is made: Next has them wait for the first one. One that
// comes after a revalidation must not get what was begun before it, so it waits until that is done, and Next begins anew.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import onHeaders from 'on-headers'
import type { Handle } from '../next/handler.ts'
import { outsideRequests } from '../async-context/outside-requests.ts'

/** A request that Next answers. */
interface Asking {
  readonly path: string
  readonly response: ServerResponse
  readonly pages: PendingPage[]
  /** What it has revalidated, and others may not know of yet. */
  readonly revalidations: Promise<void>[]
}

/** Milliseconds after which nobody waits any more for a page whose end does not show. */
const LONGEST = 10_000
const MOST_PATHS = 10_000

const asking = new AsyncLocalStorage<Asking>()
const pending = new Set<PendingPage>()
/** The keys of pages that were asked for by another path, as rewrites do. */
const keysOf = new LRUCache<string, string>({ max: MOST_PATHS })

/** What is covered: it is a method, and called as such. */
interface Covered {
  readonly end: (this: ServerResponse, ...rest: unknown[]) => ServerResponse
}

/** A page that Next has looked for, and makes if it was not there, or not fresh. */
export class PendingPage {
  readonly key: string
  /** The position in the log of changes when it was looked for. */
  readonly since: number
  /** The path that was asked for. */
  readonly path: string
  readonly ended: Promise<void>
  /** Whether it is being stored. */
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

  /** Lets those go on that wait for it, once Next has no part in it any longer. */
  end(): void {
    setImmediate(() => {
      pending.delete(this)
      this.#end()
    })
  }

  /** The same some time later, if nothing else has ended it. */
  endLater(): void {
    outsideRequests(() => setTimeout(() => this.end(), LONGEST).unref())
  }
}

/** Tells that Next looks for a page. */
export function beginPage(key: string, since: number): PendingPage {
  const request = asking.getStore()
  const page = new PendingPage(key, since, request?.path ?? '')
  pending.add(page)
  if (request === undefined) {
    page.endLater()
    return page
  }
  request.pages.push(page)
  // Not when the answer has ended: who reads slowly would hold up others.
  if (request.pages.length === 1) onHeaders(request.response, () => settle(request))
  if (request.path !== pathOfPage(key)) keysOf.set(request.path, key)
  return page
}

/** Whether a page is being looked for or made. */
export function isPending(key: string): boolean {
  return pending.values().some((page) => page.key === key)
}

/** Ends those that were looked for since another one is being made on demand: Next has them wait for that. */
export function endJoined({ key, since }: PendingPage): void {
  for (const page of pending) {
    if (page.key === key && page.since >= since) page.end()
  }
}

/** Lets Next answer a request once nothing is being made that it must not get. */
export function afterOlderPages(next: Handle, position: () => number): Handle {
  return async (request, response) => {
    const path = pathOf(request)
    if (pending.size > 0) await olderPages(path, position())
    const asked: Asking = { path, response, pages: [], revalidations: [] }
    try {
      await asking.run(asked, () => next(request, response))
    } finally {
      settle(asked)
    }
  }
}

/**
 * Keeps the end of an answer back until all processes know what its request has revalidated: Next would end it before that.
 * Where they cannot be told, the client gets no whole answer.
 */
export function endAfter(revalidation: Promise<void>): void {
  const request = asking.getStore()
  if (request === undefined) return
  const { response, revalidations } = request
  revalidations.push(revalidation)
  // It is dealt with when the answer ends.
  revalidation.catch(() => {})
  if (revalidations.length > 1) return
  const { end } = response as unknown as Covered
  const endWhenTold = async (rest: readonly unknown[]): Promise<void> => {
    try {
      await Promise.all(revalidations)
      end.apply(response, [...rest])
    } catch {
      if (response.headersSent) response.destroy()
      else {
        response.statusCode = 500
        end.call(response, 'Internal Server Error')
      }
    }
  }
  Object.assign(response, {
    end(...rest: unknown[]): ServerResponse {
      void endWhenTold(rest)
      return response
    },
  })
}

async function olderPages(path: string, position: number): Promise<void> {
  const key = keysOf.get(path)
  const older = [...pending].filter((page) => page.since < position && isSame(page, path, key))
  await Promise.all(older.map(({ ended }) => ended))
}

/** Ends the pages of a request that has its answer, but for those that are stored, or made anew after it. */
function settle({ pages, response }: Asking): void {
  const isStale = response.getHeader('x-nextjs-cache') === 'STALE'
  for (const page of pages.splice(0)) {
    if (page.isStored) continue
    if (isStale) page.endLater()
    else page.end()
  }
}

/** Whether it may be one page: prefixes, languages and the like are in one of the two paths only. */
function isSame(page: PendingPage, path: string, key: string | undefined): boolean {
  if (page.path === path || page.key === key) return true
  const ofPage = pathOfPage(page.key)
  return path.endsWith(ofPage) || ofPage.endsWith(path)
}

/** The path of a request, and of the page that its data is of. */
function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.search(/[?#]/)
  const path = end === -1 ? url : url.slice(0, end)
  const plain = pageOfData(path) ?? path
  return plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain
}

const DATA = '/_next/data/'

/** The path of the page that data is of: a base path may be before it, and the id of the build is. */
function pageOfData(path: string): string | undefined {
  const start = path.indexOf(DATA)
  if (start === -1 || !path.endsWith('.json')) return undefined
  const page = path.indexOf('/', start + DATA.length)
  return page === -1 ? undefined : path.slice(page, -'.json'.length)
}

/** Newer versions of Next put the route before the path of a page. */
function pathOfPage(key: string): string {
  const path = key.startsWith('/route-cache/') ? key.slice(key.indexOf('/$/') + 2) : key
  return path === '/index' ? '/' : path
}
