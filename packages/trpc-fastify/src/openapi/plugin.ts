import type { AnyTRPCRouter } from '@trpc/server'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { resolveOptions } from '../options/resolve.ts'
import type { TrpcPluginOptions } from '../options/types.ts'
import { assertRulesOfBoth } from '../procedure/rules-of-both.ts'
import { type OpenApiRouterOptions, serveRoutes } from './serve-routes.ts'

export type { OpenApiMeta } from './meta.ts'

/** Serves the procedures of a router that have `meta.openapi` as routes. */
type OpenApiPlugin = <TRouter extends AnyTRPCRouter>(
  app: FastifyInstance,
  options: TrpcPluginOptions<TRouter>,
) => Promise<void>

const plugin: OpenApiPlugin = async (app, options) => {
  const given = options as unknown as TrpcPluginOptions<AnyTRPCRouter>
  const routes: OpenApiRouterOptions = { ...given, ...resolveOptions(options) }
  assertRulesOfBoth(app, 'openApiPlugin', given)
  await app.register(serveRoutes, routes)
}

/**
 * Serves the procedures of a router that have `meta.openapi` as Fastify routes. It takes the options of `trpcPlugin`, so that
 * both have the same context, rules and observers. Those for batches, WebSockets and streams have no effect.
 *
 * @throws TRPC_FASTIFY_INVALID_OPTION, TRPC_FASTIFY_INVALID_OPENAPI
 *
 * @example
 * await app.register(openApiPlugin, { prefix: '/api', trpcOptions: { router: appRouter, createContext } })
 */
export const openApiPlugin: OpenApiPlugin = fp(plugin as never, {
  fastify: '5.x',
  name: 'trpc-fastify-openapi',
}) as OpenApiPlugin
