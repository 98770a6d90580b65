// Starts a Next app, and puts its features in order.

import { resolve } from 'node:path'
import { audibleLog } from 'checked-options'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { UpgradeHandler } from 'next/dist/server/next.js'
import { withCurrentRequest } from './async-context/current-request.ts'
import { type CdnSupport, openCdn } from './cdn/open-cdn.ts'
import { createCompression, type Compression } from './compression/compression.ts'
import { withDelayedEnd } from './http/delayed-end.ts'
import { assertBasePath } from './next/assert-base-path.ts'
import { letsNextCompress } from './next/config.ts'
import type { NextHandler, RequestHandler } from './next/handler-types.ts'
import { type NextOptions, startNext, type StartedNext } from './next/load.ts'
import { tellOwnOrigin } from './next/own-origin.ts'
import { Observers } from './observability/observers.ts'
import type { NextStats } from './observability/stats.ts'
import { compressionConflict, isDev, resolveCompression, resolveResponseCache } from './options/resolve.ts'
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
  const log = audibleLog(app.log, 'NextOnFastifyWarning')
  const { started, compression } = await startCompressed(log, { dir, dev: !isProduction, hostname, port }, options)
  const { next } = started
  tellOwnOrigin(app)
  if (isProduction) await identifyBuild(dir, log)
  const sharing = isProduction ? await orClose(started, openSharing(app, log, { dir, next }, options)) : undefined
  const cdn = isProduction && options.cdn ? await orClose(started, openCdn(dir, options.cdn, prefix, log)) : undefined
  // Fastify runs the last `onClose` hook first. Next needs these two until it has closed, which it does after all
  // requests, streams and `after()`.
  app.addHook('onClose', async () => {
    sharing?.close()
    cdn?.close()
  })
  app.addHook('onClose', started.close)
  app.addHook('onListen', async () => started.logUncaughtErrors())

  const limits = isProduction ? resolveResponseCache(options.responseCache) : undefined
  const reason = options.responseCache === undefined ? 'info' : 'warn'
  const cacheContext = { hasOwnUseCache: sharing?.hasOwnUseCache ?? false, level: reason, next, compression } as const
  const responseCache = limits && (await createResponseCache(dir, limits, log, cacheContext))
  const stats = (): NextStats => ({ responseCache: responseCache?.stats, routerBypass: routerBypass?.stats })
  const observers = new Observers(options.observers ?? [], log, { prefix, stats })
  app.addHook('onClose', async () => observers.closed())
  app.addHook('onClose', async () => responseCache?.close())
  const wrap = aroundNext(observers, sharing, cdn)
  const routerBypass =
    isProduction && options.bypassRouter
      ? await createRouterBypass(dir, next, options.bypassRouter, wrap, log, started.compression)
      : undefined
  const serve = inOrder({ sharing, routerBypass, responseCache }, wrap(next.getRequestHandler()))
  return {
    serve(request, response, fastifyRequest) {
      // An app that only gets requests by `inject()` never listens.
      started.logUncaughtErrors()
      return serve(request, response, fastifyRequest)
    },
    upgrade: next.upgradeHandler,
    observers,
    stats,
  }
}

/** Starts Next, whose compression is replaced if that is wanted. */
async function startCompressed(
  log: FastifyBaseLogger,
  nextOptions: NextOptions,
  options: NextPluginOptions,
): Promise<{ readonly started: StartedNext; readonly compression: Compression | undefined }> {
  const resolved = resolveCompression(options.compression)
  const compression = resolved && createCompression(resolved, log)
  const started = await startNext(nextOptions, compression && compression.middleware.bind(compression))
  if (compression === undefined || started.compression !== undefined) return { started, compression }
  const { dir } = nextOptions
  if (!(await letsNextCompress(dir))) {
    await started.close()
    throw compressionConflict(options.compression)
  }
  log.warn({ dir }, 'compression disabled for this Next app: its Next compresses in another way, or was loaded before')
  return { started, compression: undefined }
}

/** Waits for a feature, or closes Next again. */
async function orClose<T>({ close }: StartedNext, opening: Promise<T>): Promise<T> {
  try {
    return await opening
  } catch (error) {
    await close()
    throw error
  }
}

/** Adds the steps that surround each call of Next, outermost first: current request, observers, CDN, shared cache. */
function aroundNext(
  observers: Observers,
  sharing: CacheSharing | undefined,
  cdn: CdnSupport | undefined,
): (next: NextHandler) => RequestHandler {
  return (next) => {
    const shared = sharing?.afterOlderPages(next) ?? next
    const tagged = cdn?.tagged(shared) ?? shared
    return withCurrentRequest(observers.observe(sharing || cdn ? withDelayedEnd(tagged) : tagged))
  }
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
