// The place in Next where the proxy has run, and a page is about to be rendered.
//
// Next's router server hands a request to its render server twice: to run the proxy, which ends by an error that carries
// the decision, and to render what the router has found after that. Both go by one function of one object, which Next looks
// up for each request. A function that stands before it sees what the proxy has decided, of a proxy that Next itself has
// run, as often as ever: there is no way past it. Where no error comes, the router takes it that the proxy has answered
// itself, and does no more. None of this is public. Where a Next has it no longer, nothing is kept behind a proxy, and if it
// runs its proxy in another way, no decision is seen, and all is rendered.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { functionOf } from '../../next/internals.ts'
import { NotKeepable } from '../build/build.ts'
import { type EarlyProxy, earlyProxyOf, type MetaStore, type ProxyResult } from './early-middleware.ts'

/** Headers that the proxy has added to the answer. Next shows them to the page as headers of the request, too. */
export type Additions = Readonly<Record<string, string>>

/**
 * Is called in place of rendering, which `render` does.
 *
 * @param additions - what a proxy has added that has let the request pass and changed nothing of it; else nothing
 */
export type BeforeRender = (additions: Additions | undefined, render: () => Promise<void>) => Promise<void>

type Handle = (request: IncomingMessage, response: ServerResponse, parsedUrl?: unknown) => Promise<void>

/** What is used of Next's module for its render server. */
interface RenderServerModule {
  readonly initialize: (options: { dir: string }) => Promise<RenderServer>
  readonly getServerField: (dir: string, field: string) => Promise<unknown>
}

interface RenderServer {
  requestHandler: Handle
  readonly server?: Record<string, unknown>
}

/**
 * Is called when a proxy has let a request pass and changed nothing of it. What answers then and returns a promise of that has
 * Next look for no page.
 */
export type AfterProxy = (additions: Additions) => Promise<void> | undefined

interface Watched {
  readonly before: BeforeRender
  readonly after: AfterProxy
  additions: Additions | undefined
}

const watched = new WeakMap<IncomingMessage, Watched>()
const renderServers = new WeakMap<RenderServer, Promise<EarlyProxy | undefined>>()

/** Has `after` called when the proxy has run, and `before` when Next is about to render, if it comes to that. */
export function watch(request: IncomingMessage, before: BeforeRender, after: AfterProxy = () => undefined): void {
  watched.set(request, { before, after, additions: undefined })
}

/**
 * Watches what the app in `dir` renders, of which Next must have been prepared, and returns what runs its proxy before Next's
 * router is asked, if there is a way to do that.
 *
 * @throws NotKeepable where Next is not as expected
 */
export async function watchRenders(dir: string, log: FastifyBaseLogger): Promise<EarlyProxy | undefined> {
  const fromApp = createRequire(join(dir, 'package.json'))
  const { initialize, getServerField } = fromApp('next/dist/server/lib/render-server') as Partial<RenderServerModule>
  const meta = fromApp('next/dist/server/request-meta') as MetaStore & { getRequestMeta?: GetRequestMeta }
  const isKnown = [initialize, getServerField, meta.getRequestMeta].every((one) => typeof one === 'function')
  if (!isKnown) throw new NotKeepable('its Next has no render server that can be watched')
  // It throws where there is no server for this folder, which the other would make.
  await getServerField!(dir, 'buildId')
  const server = await initialize!({ dir })
  if (typeof server.requestHandler !== 'function') throw new NotKeepable('its Next renders in another way')
  const known = renderServers.get(server)
  if (known !== undefined) return known
  server.requestHandler = watchedHandler(server.requestHandler, meta.getRequestMeta)
  const proxy = findEarlyProxy(server, meta, log)
  renderServers.set(server, proxy)
  return proxy
}

async function findEarlyProxy(
  { server }: RenderServer,
  meta: MetaStore,
  log: FastifyBaseLogger,
): Promise<EarlyProxy | undefined> {
  try {
    const inner = (await functionOf(server, 'getServer').call(server)) as Record<string, unknown>
    return earlyProxyOf(inner, meta)
  } catch (err) {
    log.warn({ err }, 'the proxy of this Next app is run by its router, for its Next runs it in another way')
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
        found.additions = additionsOf((error as { result?: ProxyResult } | undefined)?.result)
        const answering = found.additions && found.after(found.additions)
        if (answering !== undefined) return await answering
        throw error
      }
    }
    // What is not found may be looked for again, and the proxy runs again for that.
    watched.delete(request)
    return found.before(found.additions, () => handle(request, response, parsedUrl))
  }
}

/** What a proxy has added that did nothing else. */
export function additionsOf({ response }: ProxyResult = {}): Additions | undefined {
  if (response === undefined || response.status !== 200 || response.body !== null) return undefined
  if (response.headers.get('x-middleware-next') !== '1') return undefined
  const additions: Record<string, string> = {}
  for (const [name, value] of response.headers) {
    if (name === 'x-middleware-next') continue
    // By such headers it changes the request, rewrites it, or sets cookies that the page sees.
    if (name.startsWith('x-middleware-') || name === 'location') return undefined
    additions[name] = value
  }
  return additions
}
