// Requests that Next's router server would hand to one route, handed to it without asking.

import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Answer, Handle } from '../next/handler.ts'
import { mayEnter } from '../next/before-route.ts'
import { NotDirect } from '../next/internals.ts'
import { isPlainPath, oddityOf, type Oddity, pathOf, queryOf, type RouteKind } from './eligibility.ts'
import { findRenderServer, type NotRouted, type RenderServer, type Routed } from './render-server.ts'

/** How often what happened since the start. */
export interface DirectCounts {
  /** Requests that reached their route without the router server. */
  direct: number
  /** Of those, requests that reached the entry point of their route without the render server. */
  entrypoints: number
  /** Requests that went to the router server, by reason. */
  routed: Partial<Record<NotRouted | Oddity | 'first', number>>
}

/** How many paths are remembered: those of routes with parameters have no end. */
const MOST_PATHS = 10_000

const HANDLERS: ReadonlySet<RouteKind> = new Set(['pages-api', 'route-handler'])
const ALL: ReadonlySet<RouteKind> = new Set([...HANDLERS, 'app-page', 'pages-page'])

/** The way past the router server of one Next app. */
export class NextDirect {
  readonly #server: RenderServer
  readonly #paths = new LRUCache<string, Routed | NotRouted>({ max: MOST_PATHS })
  readonly #counts: DirectCounts = { direct: 0, entrypoints: 0, routed: {} }

  constructor(server: RenderServer) {
    this.#server = server
  }

  /** How often what happened, and how many paths are known now. */
  get counts(): Readonly<DirectCounts> & { readonly paths: number } {
    const { routed } = this.#counts
    return { ...this.#counts, routed: { ...routed }, paths: this.#paths.size }
  }

  /** Hands a request to its route, or lets `next` answer it and learns where that has sent it. */
  async answer(next: Answer, ...asking: Parameters<Answer>): Promise<void> {
    const [request] = asking
    const { url = '' } = request
    const path = pathOf(url)
    const known = this.#paths.get(path)
    if (known === undefined) return this.#learn(path, next, ...asking)
    if (typeof known === 'string') return this.#route(known, next, ...asking)

    const oddity = oddityOf(request, known.kind)
    if (oddity !== undefined) return this.#route(oddity, next, ...asking)
    const query = queryOf(url)
    if (query === undefined) return this.#route('query', next, ...asking)
    const entrypoint = mayEnter(request, query) ? known.entrypoint : undefined
    this.#counts.direct++
    if (entrypoint !== undefined) this.#counts.entrypoints++
    return this.#server.render(known, entrypoint, query, ...asking)
  }

  #route(why: keyof DirectCounts['routed'], next: Answer, ...asking: Parameters<Answer>): Promise<void> {
    const { routed } = this.#counts
    routed[why] = (routed[why] ?? 0) + 1
    return next(...asking)
  }

  async #learn(path: string, next: Answer, ...asking: Parameters<Answer>): Promise<void> {
    const [request, response] = asking
    if (!isPlainPath(path)) return this.#route('url', next, ...asking)
    if (!this.#server.mayRoute(path)) return this.#route('route', next, ...asking)
    // Next writes to the request while it answers.
    const oddity = oddityOf(request)
    if (oddity !== undefined) return this.#route(oddity, next, ...asking)
    await this.#route('first', next, ...asking)
    const found = await this.#server.routed(path, request, response)
    if (found !== undefined) this.#paths.set(path, found)
  }
}

/**
 * Makes the direct path of the app in `dir`, or logs why it has none. `asked` is what is done around each request that Next
 * is asked.
 */
export async function createDirect(
  dir: string,
  next: object,
  which: 'all' | 'api',
  asked: (answer: Handle) => Answer,
  log: FastifyBaseLogger,
): Promise<NextDirect | undefined> {
  try {
    return new NextDirect(await findRenderServer(dir, next, which === 'all' ? ALL : HANDLERS, asked, log))
  } catch (error) {
    const why = error instanceof NotDirect ? error.message : 'its build is not as expected'
    log.warn({ err: error instanceof NotDirect ? undefined : error, dir }, `no direct path into this Next app: ${why}`)
    return undefined
  }
}
