import { resolve } from 'node:path'
import { audibleLog } from 'checked-options'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, RouteGenericInterface } from 'fastify'
import fp from 'fastify-plugin'
import { afterAllHooks } from './fastify/hooks-first.ts'
import { addNextRoutes, everyMethod } from './fastify/catch-all-routes.ts'
import { type NextRouteHandler, type NextRouteOptions, nextRoutes } from './fastify/next-routes.ts'
import { serveBy } from './fastify/serve-request.ts'
import { assertBodyUnread, skipBodyParsing } from './fastify/unread-bodies.ts'
import { closeIdleConnections } from './http/idle-connections.ts'
import { rejectWebSocket, Upgrades } from './http/upgrades.ts'
import { type NextApp, openNextApp } from './next-app.ts'
import { foreignAssetPath } from './next/asset-path.ts'
import { hasExternalRewrite } from './next/has-external-rewrite.ts'
import type { NextStats } from './observability/stats.ts'
import { checkPluginOptions, isDev } from './options/resolve.ts'
import type { NextPluginOptions } from './options/types.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns statistics of the Next app with a prefix, by default `''`. Undefined if there is no such app. */
    nextStats(prefix?: string): NextStats | undefined
    /**
     * Adds a route that Next serves, with options of a Fastify route: hooks, a rate limit, a log level. The handler runs
     * before Next, and may return the path that Next serves instead. Paths without a route need none: Next serves them.
     *
     * @example
     * app.next('/search', { config: { rateLimit: { max: 10 } } })
     * app.next<{ Params: { id: string } }>('/p/:id', ({ params }) => `/posts/${encodeURIComponent(params.id)}`)
     */
    next<Route extends RouteGenericInterface = RouteGenericInterface>(
      url: string,
      options?: NextRouteOptions | NextRouteHandler<Route>,
      handler?: NextRouteHandler<Route>,
    ): FastifyInstance
  }
}

/** Serves a Next app for all requests that no route of an existing app matches. */
type NextPlugin = (app: FastifyInstance, options: NextPluginOptions) => Promise<void>

/** Hides Next's route from documents that are generated from routes. */
const HIDDEN: FastifySchema & { hide: boolean } = { hide: true }

const plugin: NextPlugin = async (app, options) => {
  checkPluginOptions(options)
  const { prefix = '', logLevel, logSerializers, requestIdHeader } = options
  const next = await openNextApp(app, options)
  closeIdleConnections(app)
  statsByPrefix(app).set(prefix, next.stats)
  const takeUpgrade = await upgradesTo(app, next, options)
  const methods = everyMethod(app)
  const log = { ...(logLevel !== undefined && { logLevel }), ...(logSerializers !== undefined && { logSerializers }) }
  const taken = {
    preParsing: skipBodyParsing(app),
    preHandler: (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
      if (!takeUpgrade(request, reply)) done()
    },
    ...afterAllHooks(app, assertBodyUnread, serveBy(next.serve, requestIdHeader)),
  }
  const assetPath = await foreignAssetPath(resolve(options.dir ?? '.'), prefix, isDev(options))
  addNextRoutes(app, { prefix, assetPath }, methods, { schema: HIDDEN, ...log, ...taken })
  // The types allow for those of @fastify/nextjs beside them, which an app has while it moves.
  if (!app.hasDecorator('next')) app.decorate<unknown>('next', nextRoutes({ ...log, ...taken }, methods, prefix))
  next.observers.opened()
}

/** Returns the function that passes WebSockets to Next, or rejects them. It returns false for other requests. */
async function upgradesTo(
  app: FastifyInstance,
  { upgrade }: NextApp,
  options: NextPluginOptions,
): Promise<(request: FastifyRequest, reply: FastifyReply) => boolean> {
  const dir = resolve(options.dir ?? '.')
  const isOn = options.upgrades ?? (isDev(options) || (await hasExternalRewrite(dir)))
  if (!isOn) return rejectWebSocket
  if (upgrade === undefined) {
    const log = audibleLog(app.log, 'NextOnFastifyWarning')
    log.warn({ dir }, 'upgrades disabled for this Next app: its Next has no "upgradeHandler"')
    return rejectWebSocket
  }
  const upgrades = Upgrades.of(app)
  return (request, reply) => upgrades.take(request, reply, upgrade)
}

/** Statistics of the Next apps of each server, by prefix. */
const servers = new WeakMap<object, Map<string, () => NextStats>>()

/** The statistics of a server's apps. Adds the decorator, which a parent may have already, in contrast to a sibling. */
function statsByPrefix(app: FastifyInstance): Map<string, () => NextStats> {
  const stats = servers.get(app.server) ?? new Map<string, () => NextStats>()
  servers.set(app.server, stats)
  if (!app.hasDecorator('nextStats')) app.decorate('nextStats', (prefix = '') => stats.get(prefix)?.())
  return stats
}

/**
 * Serves a Next app for all requests that no route of the app matches, as `next start` or `next dev` would.
 *
 * @throws NEXT_ON_FASTIFY_INVALID_OPTION, NEXT_ON_FASTIFY_NEXT_MISSING, NEXT_ON_FASTIFY_NEXT_VERSION,
 * NEXT_ON_FASTIFY_NO_BUILD, NEXT_ON_FASTIFY_NOT_PREPARED, NEXT_ON_FASTIFY_BASE_PATH, NEXT_ON_FASTIFY_SECOND_APP,
 * NEXT_ON_FASTIFY_CACHE_NOT_SHARED
 *
 * @example
 * await app.register(nextPlugin, { dir: './web' })
 */
export const nextPlugin: NextPlugin = fp(plugin, { fastify: '5.x', name: 'next-on-fastify' })
