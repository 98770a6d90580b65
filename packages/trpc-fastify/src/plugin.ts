import type { AnyTRPCRouter } from '@trpc/server'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { WebSocketMissingError } from './errors.ts'
import type { TrpcPluginOptions } from './options/types.ts'
import { resolveOptions } from './options/resolve.ts'
import { assertRulesOfBoth } from './procedure/rules-of-both.ts'
import { retainTickClass } from './runtime/hidden-classes.ts'
import { type RouterOptions, serveRouter, type TrpcCounter, type TrpcStats } from './serve-router.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns how many tRPC requests took which path, by the prefix of the router. Undefined for an unknown prefix. */
    trpcStats(prefix?: string): TrpcStats | undefined
  }
}

/** The counters of an app by prefix. */
const COUNTERS = Symbol('trpc-fastify: counters')

type Counting = FastifyInstance & { [COUNTERS]?: Map<string, TrpcCounter> }

/** Serves a router in an existing app: a drop-in for `fastifyTRPCPlugin` of `@trpc/server/adapters/fastify`. */
type TrpcPlugin = <TRouter extends AnyTRPCRouter>(
  app: FastifyInstance,
  options: TrpcPluginOptions<TRouter>,
) => Promise<void>

const plugin: TrpcPlugin = async (app, options) => {
  const resolved = resolveOptions(options)
  assertRulesOfBoth(app, 'trpcPlugin', options as unknown as TrpcPluginOptions<AnyTRPCRouter>)
  retainTickClass()
  if (resolved.useWSS && !app.hasDecorator('websocketServer')) {
    throw new WebSocketMissingError('Option "useWSS" needs @fastify/websocket: register it before trpcPlugin.')
  }
  const counters = countersOf(app)
  const routes: RouterOptions & { prefix: string } = {
    ...(options as unknown as TrpcPluginOptions<AnyTRPCRouter>),
    ...resolved,
    onCounter: (prefix, counter) => counters.set(prefix, counter),
  }
  // Content type parsers must not leak into the app: the routes have a context of their own.
  await app.register(serveRouter, routes)
}

function countersOf(app: FastifyInstance): Map<string, TrpcCounter> {
  const existing = (app as Counting)[COUNTERS]
  if (existing) return existing
  const counters = new Map<string, TrpcCounter>()
  app.decorate(COUNTERS, counters)
  app.decorate('trpcStats', (prefix = '') => {
    const counter = counters.get(prefix)
    return counter && { ...counter, fallback: { ...counter.fallback } }
  })
  return counters
}

/**
 * Serves a tRPC router: takes the options of `fastifyTRPCPlugin`, and sends the same responses for a fraction of the CPU.
 * tRPC's own adapter serves the requests that the fast path does not support; `app.trpcStats()` counts them.
 *
 * @throws TRPC_FASTIFY_INVALID_OPTION, TRPC_FASTIFY_WEBSOCKET_MISSING
 *
 * @example
 * await app.register(trpcPlugin, { prefix: '/trpc', trpcOptions: { router: appRouter, createContext } })
 */
export const trpcPlugin: TrpcPlugin = fp(plugin as never, { fastify: '5.x', name: 'trpc-fastify' }) as TrpcPlugin
