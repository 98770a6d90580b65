// Watches Next between middleware and rendering.
//
// Next's router calls its render server twice: to run middleware, which ends with an error that carries the decision, and to
// render the page. Both calls use one function, which is replaced here. If the middleware call ends without an error, the
// router assumes that middleware has responded. None of this is public.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { functionOf } from '../internals.ts'
import { UncacheableBuildError } from '../build/uncacheable-build-error.ts'
import { type EarlyMiddleware, earlyMiddlewareOf, type MetaStore, type MiddlewareResult } from './early-middleware.ts'

/** Headers that middleware has added to the response. Next also shows them to the page as request headers. */
export type AddedHeaders = Readonly<Record<string, string>>

type Handle = (request: IncomingMessage, response: ServerResponse, parsedUrl?: unknown) => Promise<void>

/** The used parts of Next's module for its render server. */
interface RenderServerModule {
  readonly initialize: (options: { dir: string }) => Promise<RenderServer>
  readonly getServerField: (dir: string, field: string) => Promise<unknown>
}

interface RenderServer {
  requestHandler: Handle
  readonly server?: Record<string, unknown>
}

/** Callbacks for one request. */
export interface RenderWatcher {
  /** Called after middleware that has passed the request through unchanged. If it responds, Next looks for no page. */
  afterMiddleware(added: AddedHeaders): Promise<void> | undefined
  /** Called instead of rendering. `added` is undefined if middleware has changed the request, or did not run. */
  beforeRender(added: AddedHeaders | undefined, render: () => Promise<void>): Promise<void>
}

interface Watched {
  readonly watcher: RenderWatcher
  added: AddedHeaders | undefined
}

const watched = new WeakMap<IncomingMessage, Watched>()
const renderServers = new WeakMap<RenderServer, Promise<EarlyMiddleware | undefined>>()

/** Watches a request. */
export function watch(request: IncomingMessage, watcher: RenderWatcher): void {
  watched.set(request, { watcher, added: undefined })
}

/**
 * Enables {@link watch} for the app in `dir`, whose Next must be prepared. Returns the function that runs middleware before
 * Next's router, if that is possible.
 *
 * @throws UncacheableBuildError for a Next version with other internals
 */
export async function watchRenders(dir: string, log: FastifyBaseLogger): Promise<EarlyMiddleware | undefined> {
  const fromApp = createRequire(join(dir, 'package.json'))
  const { initialize, getServerField } = fromApp('next/dist/server/lib/render-server') as Partial<RenderServerModule>
  const meta = fromApp('next/dist/server/request-meta') as MetaStore & { getRequestMeta?: GetRequestMeta }
  const isKnown = [initialize, getServerField, meta.getRequestMeta].every((one) => typeof one === 'function')
  if (!isKnown) throw new UncacheableBuildError('its Next has no render server that can be watched')
  // It throws if there is no server for this folder. `initialize` would create one.
  await getServerField!(dir, 'buildId')
  const server = await initialize!({ dir })
  if (typeof server.requestHandler !== 'function') throw new UncacheableBuildError('its Next renders in another way')
  const known = renderServers.get(server)
  if (known !== undefined) return known
  server.requestHandler = watchedHandler(server.requestHandler, meta.getRequestMeta)
  const earlyMiddleware = findEarlyMiddleware(server, meta, log)
  renderServers.set(server, earlyMiddleware)
  return earlyMiddleware
}

async function findEarlyMiddleware(
  { server }: RenderServer,
  meta: MetaStore,
  log: FastifyBaseLogger,
): Promise<EarlyMiddleware | undefined> {
  try {
    const inner = (await functionOf(server, 'getServer').call(server)) as Record<string, unknown>
    return earlyMiddlewareOf(inner, meta)
  } catch (err) {
    log.warn({ err }, "middleware runs in Next's router: this Next runs it in another way")
    return undefined
  }
}

type GetRequestMeta = (request: IncomingMessage, name: string) => unknown

function watchedHandler(handle: Handle, getRequestMeta: GetRequestMeta): Handle {
  return async (request, response, parsedUrl) => {
    const found = watched.get(request)
    if (found === undefined) return handle(request, response, parsedUrl)
    if (getRequestMeta(request, 'middlewareInvoke') === true) {
      try {
        return await handle(request, response, parsedUrl)
      } catch (error) {
        found.added = addedHeadersOf((error as { result?: MiddlewareResult } | undefined)?.result)
        const served = found.added && found.watcher.afterMiddleware(found.added)
        if (served !== undefined) return await served
        throw error
      }
    }
    // Next may look for a missing page again, and runs middleware again for that.
    watched.delete(request)
    return found.watcher.beforeRender(found.added, () => handle(request, response, parsedUrl))
  }
}

/** The headers added by middleware that has done nothing else. */
export function addedHeadersOf({ response }: MiddlewareResult = {}): AddedHeaders | undefined {
  if (response === undefined || response.status !== 200 || response.body !== null) return undefined
  if (response.headers.get('x-middleware-next') !== '1') return undefined
  const added: Record<string, string> = {}
  for (const [name, value] of response.headers) {
    if (name === 'x-middleware-next') continue
    // Such headers change the request, rewrite it, or set cookies that the page sees.
    if (name.startsWith('x-middleware-') || name === 'location') return undefined
    added[name] = value
  }
  return added
}
