import type { FastifyInstance, FastifySchema } from 'fastify'
import fp from 'fastify-plugin'
import { afterAllHooks } from './fastify/hooks-first.ts'
import { addNextRoutes } from './fastify/next-routes.ts'
import { serveBy } from './fastify/serve-request.ts'
import { assertBodyUnread, skipBodyParsing } from './fastify/unread-bodies.ts'
import { closeIdleConnections } from './http/idle-connections.ts'
import { Upgrades } from './http/upgrades.ts'
import { type NextApp, openNextApp } from './next-app.ts'
import { checkOptions, isDev, type NextPluginOptions } from './options.ts'
import type { NextMemory } from './response-cache/response-cache.ts'
import type { NextDirect } from './router-bypass/router-bypass.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Response caches by prefix. Apps without a response cache have no entry. */
    nextMemory: Map<string, NextMemory>
    /** Router bypasses by prefix. Apps without a router bypass have no entry. */
    nextDirect: Map<string, NextDirect>
  }
}

/** Serves a Next app for all requests that no route of an existing app matches. */
type NextPlugin = (app: FastifyInstance, options: NextPluginOptions) => Promise<void>

/** Hides Next's route from documents that are generated from routes. */
const HIDDEN: FastifySchema & { hide: boolean } = { hide: true }

const plugin: NextPlugin = async (app, options) => {
  checkOptions(options)
  const { prefix = '', logLevel, requestIdHeader } = options
  const next = await openNextApp(app, options)
  closeIdleConnections(app)
  decorate(app, prefix, next)
  const { upgrade } = next
  const upgrades = (options.upgrades ?? isDev(options)) && upgrade ? Upgrades.of(app) : undefined
  addNextRoutes(app, prefix, {
    schema: HIDDEN,
    ...(logLevel !== undefined && { logLevel }),
    preParsing: skipBodyParsing(app),
    ...(upgrades && {
      preHandler: (request, reply, done): void => {
        if (!upgrades.take(request, reply, upgrade!)) done()
      },
    }),
    ...afterAllHooks(app, assertBodyUnread, serveBy(next.serve, requestIdHeader)),
  })
  next.observers.opened()
}

function decorate(app: FastifyInstance, prefix: string, { responseCache, routerBypass }: NextApp): void {
  if (!app.hasDecorator('nextMemory')) app.decorate('nextMemory', new Map())
  if (responseCache !== undefined) app.nextMemory.set(prefix, responseCache)
  if (!app.hasDecorator('nextDirect')) app.decorate('nextDirect', new Map())
  if (routerBypass !== undefined) app.nextDirect.set(prefix, routerBypass)
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
