// Starts a Next app, and puts its features in order.

import { resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { UpgradeHandler } from 'next/dist/server/next.js'
import { withCurrentRequest } from './async-context/current-request.ts'
import { assertBasePath } from './next/assert-base-path.ts'
import type { NextHandler, RequestHandler } from './next/handler-types.ts'
import { startNext, type StartedNext } from './next/load.ts'
import { Observers } from './observability/observers.ts'
import type { NextStats } from './observability/stats.ts'
import { isDev, resolveResponseCache } from './options/resolve.ts'
import type { NextPluginOptions } from './options/types.ts'
import { createResponseCache } from './response-cache/create-response-cache.ts'
import type { ResponseCache } from './response-cache/response-cache.ts'
import { createRouterBypass, type RouterBypass } from './router-bypass/router-bypass.ts'
import { openSharing } from './shared-cache/default-sharing.ts'
import type { CacheSharing } from './shared-cache/open-shared-cache.ts'
import { identifyBuild, prepareBuild } from './skew-protection/identify-build.ts'

/** A Next app that is ready for requests. */
export interface NextApp {
  readonly serve: RequestHandler
  readonly upgrade: UpgradeHandler | undefined
  readonly observers: Observers
  readonly stats: () => NextStats
}

/** Starts the Next app of the options. It closes with the Fastify app. */
export async function openNextApp(app: FastifyInstance, options: NextPluginOptions): Promise<NextApp> {
  const isProduction = !isDev(options)
  const { prefix = '', hostname, port } = options
  const dir = resolve(options.dir ?? '.')
  if (prefix !== '' && isProduction) assertBasePath(dir, prefix)
  if (isProduction) prepareBuild(dir)
  const started = await startNext({ dir, dev: !isProduction, hostname, port })
  const { next } = started
  if (isProduction) await identifyBuild(dir, app.log)
  const sharing = isProduction ? await openSharingOf(app, dir, options, started) : undefined
  // Fastify runs the last `onClose` hook first. Next needs the shared cache until it has closed, which it does after all
  // requests, streams and `after()`.
  app.addHook('onClose', async () => sharing?.close())
  app.addHook('onClose', started.close)

  const limits = isProduction ? resolveResponseCache(options.responseCache) : undefined
  const reason = options.responseCache === undefined ? 'info' : 'warn'
  const responseCache = limits && (await createResponseCache(dir, limits, app.log, sharing !== undefined, reason))
  const stats = (): NextStats => ({ responseCache: responseCache?.stats, routerBypass: routerBypass?.stats })
  const observers = new Observers(options.observers ?? [], app.log, { prefix, stats })
  app.addHook('onClose', async () => observers.closed())
  app.addHook('onClose', async () => responseCache?.close())
  const wrap = aroundNext(observers, sharing)
  const routerBypass =
    isProduction && options.bypassRouter
      ? await createRouterBypass(dir, next, options.bypassRouter, wrap, app.log)
      : undefined
  return {
    serve: inOrder({ sharing, routerBypass, responseCache }, wrap(next.getRequestHandler())),
    upgrade: next.upgradeHandler,
    observers,
    stats,
  }
}

/** Opens the shared cache, or closes Next again. */
async function openSharingOf(
  app: FastifyInstance,
  dir: string,
  options: NextPluginOptions,
  { close }: StartedNext,
): Promise<CacheSharing | undefined> {
  try {
    return await openSharing(app, dir, options)
  } catch (error) {
    await close()
    throw error
  }
}

/** Adds the steps that surround each call of Next, outermost first: current request, observers, shared cache. */
function aroundNext(observers: Observers, sharing: CacheSharing | undefined): (next: NextHandler) => RequestHandler {
  return (next) => withCurrentRequest(observers.observe(sharing?.afterOlderPages(next) ?? next))
}

interface Features {
  readonly sharing: CacheSharing | undefined
  readonly routerBypass: RouterBypass | undefined
  readonly responseCache: ResponseCache | undefined
}

type Step = (next: RequestHandler) => RequestHandler

/** Puts the features before Next. Each one responds itself, or calls the next one. */
function inOrder({ sharing, routerBypass, responseCache }: Features, next: RequestHandler): RequestHandler {
  const steps: (Step | undefined)[] = [
    // Reads revalidations of other processes. If that fails, no feature may respond.
    sharing && ((following) => sharing.upToDate(following, next)),
    // Before the response cache, because it serves only dynamic routes, which are never cached.
    routerBypass && ((following) => routerBypass.serve.bind(routerBypass, following)),
    responseCache && ((following) => responseCache.serve.bind(responseCache, following)),
  ]
  return steps.reduceRight<RequestHandler>((following, step) => step?.(following) ?? following, next)
}
