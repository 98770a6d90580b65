import type { AnyTRPCRouter } from '@trpc/server'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { WebSocketMissingError } from './errors.ts'
import type { TrpcPluginOptions } from './options/types.ts'
import { checkOptions } from './options/validate.ts'
import { type TrpcRequestCounts, serveRouter } from './serve-router.ts'
import { retainTickClass } from './runtime/hidden-classes.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** How many tRPC requests took which path, by the prefix that a router is served at. */
    trpcRequests: Map<string, TrpcRequestCounts>
  }
}

/** Serves a router in an existing app: a drop-in for `fastifyTRPCPlugin` of `@trpc/server/adapters/fastify`. */
type TrpcPlugin = <TRouter extends AnyTRPCRouter>(
  app: FastifyInstance,
  options: TrpcPluginOptions<TRouter>,
) => Promise<void>

const plugin: TrpcPlugin = async (app, options) => {
  checkOptions(options)
  retainTickClass()
  if (options.useWSS && !app.hasDecorator('websocketServer')) {
    throw new WebSocketMissingError('`useWSS` needs @fastify/websocket to be registered before trpcPlugin')
  }
  if (!app.hasDecorator('trpcRequests')) app.decorate('trpcRequests', new Map<string, TrpcRequestCounts>())
  // Content type parsers must not leak into the app: the routes have a context of their own.
  await app.register(serveRouter<typeof options.trpcOptions.router>, { ...options, prefix: options.prefix ?? '' })
}

/**
 * Serves a tRPC router: takes the options of `fastifyTRPCPlugin`, and sends the same responses for a fraction of the CPU.
 * tRPC's own handler serves all requests that the fast path does not support; `app.trpcRequests` counts them.
 *
 * @throws TRPC_FASTIFY_INVALID_OPTION, TRPC_FASTIFY_WEBSOCKET_MISSING
 *
 * @example
 * await app.register(trpcPlugin, { prefix: '/trpc', trpcOptions: { router: appRouter, createContext } })
 */
export const trpcPlugin: TrpcPlugin = fp(plugin as never, { fastify: '5.x', name: 'trpc-fastify' }) as TrpcPlugin
