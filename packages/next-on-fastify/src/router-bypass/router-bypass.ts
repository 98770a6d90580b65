// Renders requests without Next's router. It replays the router's decision for the first request of each path.

import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import { canSkipRenderServer } from '../next/request-preparation.ts'
import type { CompressionMiddleware, NextHandler, RequestHandler } from '../next/handler-types.ts'
import { UnsupportedNextError } from '../next/internals.ts'
import { isPlainPath, pathOf, queryOf } from '../next/plain-url.ts'
import { ineligible, type IneligibleReason } from './eligibility.ts'
import { findRenderServer, type RenderServer, type Routed } from './route-replay.ts'
import type { NotRouted, RouteKind } from '../next/build/direct-routes.ts'

/** Counters since the start. */
interface RouterBypassCounts {
  /** Requests that were rendered without Next's router. */
  bypassed: number
  /** Of those, requests that were rendered by the entry point of their route, without the render server. */
  entrypoints: number
  /** Requests that went to Next's router, by reason. */
  routed: Partial<Record<NotRouted | IneligibleReason | 'first', number>>
}

/** Counters of the router bypass, and its current size. */
export interface RouterBypassStats extends Readonly<RouterBypassCounts> {
  /** Number of known paths. */
  readonly paths: number
}

/** Maximum known paths. Routes with parameters have any number of paths. */
const MAX_PATHS = 10_000

const HANDLERS: ReadonlySet<RouteKind> = new Set(['pages-api', 'route-handler'])
const ALL: ReadonlySet<RouteKind> = new Set([...HANDLERS, 'app-page', 'pages-page'])

/** The router bypass of one Next app. */
export class RouterBypass {
  readonly #server: RenderServer
  readonly #paths = new LRUCache<string, Routed | NotRouted>({ max: MAX_PATHS })
  readonly #counts: RouterBypassCounts = { bypassed: 0, entrypoints: 0, routed: {} }

  constructor(server: RenderServer) {
    this.#server = server
  }

  /** The counters, and the number of known paths. */
  get stats(): RouterBypassStats {
    const { routed } = this.#counts
    return { ...this.#counts, routed: { ...routed }, paths: this.#paths.size }
  }

  /** Renders a request directly, or lets `next` serve it and records where its router sent it. */
  async serve(next: RequestHandler, ...args: Parameters<RequestHandler>): Promise<void> {
    const [request] = args
    const { url = '' } = request
    const path = pathOf(url)
    const known = this.#paths.get(path)
    if (known === undefined) return this.#record(path, next, ...args)
    if (typeof known === 'string') return this.#route(known, next, ...args)

    const reason = ineligible(request, known.kind)
    if (reason !== undefined) return this.#route(reason, next, ...args)
    const query = queryOf(url)
    if (query === undefined) return this.#route('query', next, ...args)
    const entrypoint = canSkipRenderServer(request, query) ? known.entrypoint : undefined
    this.#counts.bypassed++
    if (entrypoint !== undefined) this.#counts.entrypoints++
    return this.#server.render(known, entrypoint, query, ...args)
  }

  #route(
    reason: keyof RouterBypassCounts['routed'],
    next: RequestHandler,
    ...args: Parameters<RequestHandler>
  ): Promise<void> {
    const { routed } = this.#counts
    routed[reason] = (routed[reason] ?? 0) + 1
    return next(...args)
  }

  async #record(path: string, next: RequestHandler, ...args: Parameters<RequestHandler>): Promise<void> {
    const [request, response] = args
    if (!isPlainPath(path)) return this.#route('url', next, ...args)
    const notRouted = this.#server.notRouted(path)
    if (notRouted !== undefined) return this.#route(notRouted, next, ...args)
    // Before Next changes the request.
    const reason = ineligible(request)
    if (reason !== undefined) return this.#route(reason, next, ...args)
    await this.#route('first', next, ...args)
    const found = await this.#server.routed(path, request, response)
    if (found !== undefined) this.#paths.set(path, found)
  }
}

/**
 * Creates the router bypass of the app in `dir`, or logs why it is off.
 *
 * @param wrap - adds the steps around Next
 * @param compression - replaces Next's compression
 */
export async function createRouterBypass(
  dir: string,
  next: object,
  routes: 'all' | 'handlers',
  wrap: (handle: NextHandler) => RequestHandler,
  log: FastifyBaseLogger,
  compression?: CompressionMiddleware,
): Promise<RouterBypass | undefined> {
  const kinds = routes === 'all' ? ALL : HANDLERS
  try {
    return new RouterBypass(await findRenderServer(dir, next, kinds, wrap, log, compression))
  } catch (error) {
    const isReason = error instanceof UnsupportedNextError
    const why = isReason ? error.message : 'unrecognized build output'
    log.warn({ err: isReason ? undefined : error, dir }, `router bypass disabled for this Next app: ${why}`)
    return undefined
  }
}
