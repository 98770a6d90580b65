import type { AnyTRPCRouter } from '@trpc/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { answerStyle, servesSubscriptions } from './response/trpc-defaults.ts'
import { answer } from './response/respond.ts'
import { aroundCalls, hasAround } from './procedure/interceptors/interceptor.ts'
import { keepTickClass } from './runtime/hidden-classes.ts'
import { WebSocketMissingError } from './errors.ts'
import { fastProcedures } from './procedure/registry.ts'
import { canCompile, internalsOf } from './procedure/trpc-internals.ts'
import { officialHandler } from './fallback.ts'
import { OpenStreams } from './response/open-streams.ts'
import { checkOptions, type TrpcPluginOptions } from './options/types.ts'
import { ruledRoute } from './procedure/rule-hooks.ts'
import { ProcedureRules } from './procedure/rules.ts'
import { type OfficialReason, readRequest } from './request/parse-request.ts'
import { settleHeads } from './response/on-send.ts'
import { sendWithOthers } from './response/send.ts'
import { Serializers } from './procedure/serializer.ts'
import { serveWebSockets } from './websocket.ts'

/** How many requests took which path. */
export interface TrpcRequestCounts {
  /** Answered on the fast path, each step called by this package. */
  compiled: number
  /** Answered on the fast path, with a procedure that tRPC's own code called. */
  direct: number
  /** Answered by tRPC's own adapter, by reason. */
  readonly official: Partial<Record<OfficialReason, number>>
}

declare module 'fastify' {
  interface FastifyInstance {
    /** How many tRPC requests took which path, by the prefix that a router is served at. */
    trpcRequests: Map<string, TrpcRequestCounts>
  }
}

/** Serves a router in an app that is there: a drop-in for `fastifyTRPCPlugin` of `@trpc/server/adapters/fastify`. */
type TrpcPlugin = <TRouter extends AnyTRPCRouter>(
  app: FastifyInstance,
  options: TrpcPluginOptions<TRouter>,
) => Promise<void>

const plugin: TrpcPlugin = async (app, options) => {
  checkOptions(options)
  keepTickClass()
  if (options.useWSS && !app.hasDecorator('websocketServer')) {
    throw new WebSocketMissingError('`useWSS` needs @fastify/websocket to be registered before trpcPlugin')
  }
  if (!app.hasDecorator('trpcRequests')) app.decorate('trpcRequests', new Map<string, TrpcRequestCounts>())
  // Content type parsers must not leak into the app: the routes have a context of their own.
  await app.register(routes<typeof options.trpcOptions.router>, { ...options, prefix: options.prefix ?? '' })
}

/**
 * Serves a tRPC router: takes the options of `fastifyTRPCPlugin`, gives the same answers for a fraction
 * of the CPU. What it cannot prove itself equal on goes to tRPC's own handler; `app.trpcRequests` counts.
 *
 * @throws TRPC_FASTIFY_INVALID_OPTION, TRPC_FASTIFY_WEBSOCKET_MISSING
 *
 * @example
 * await app.register(trpcPlugin, { prefix: '/trpc', trpcOptions: { router: appRouter, createContext } })
 */
export const trpcPlugin: TrpcPlugin = fp(plugin as never, { fastify: '5.x', name: 'trpc-fastify' }) as TrpcPlugin

async function routes<TRouter extends AnyTRPCRouter>(
  app: FastifyInstance,
  { trpcOptions, useWSS, engine = 'compiled', procedures = {}, ...options }: TrpcPluginOptions<TRouter>,
): Promise<void> {
  const handlerOptions = trpcOptions as unknown as TrpcPluginOptions<AnyTRPCRouter>['trpcOptions']
  const { router } = handlerOptions
  const internals = internalsOf(router)
  const { config } = internals
  const rules = new ProcedureRules(procedures, internals)
  const serializers = new Serializers(rules, internals)
  const aroundAny = aroundCalls(options, rules, config, (path) => serializers.at(path))
  // It makes calls asynchronous: where there is nothing to do, it is left out.
  const around = hasAround(options, rules) ? aroundAny : undefined
  const openStreams = options.endStreamsOnClose ? new OpenStreams() : undefined
  if (openStreams) app.addHook('preClose', async () => openStreams.endAll())

  const counts: TrpcRequestCounts = { compiled: 0, direct: 0, official: {} }
  app.trpcRequests.set(app.prefix, counts)
  if (engine === 'compiled' && !canCompile) {
    app.log.warn('trpc-fastify does not know the procedures of this @trpc/server: it calls them by their own code')
  }

  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.removeContentTypeParser('multipart/form-data')
  app.addContentTypeParser('multipart/form-data', {}, (_request, body, done) => done(null, body))

  settleHeads(app)
  const style = await answerStyle(config)
  const readOptions = {
    find: fastProcedures(internals, {
      engine: engine === 'direct' ? 'direct' : 'compiled',
      around,
      serializers,
    }),
    pathSeparator: style.pathSeparator,
    deserialize: (input: unknown): unknown => config.transformer.input.deserialize(input) as unknown,
    allowBatching: handlerOptions.allowBatching ?? handlerOptions.batching?.enabled ?? true,
    allowMethodOverride: handlerOptions.allowMethodOverride ?? false,
    maxBatchSize: handlerOptions.maxBatchSize,
    servesSubscriptions: servesSubscriptions(config),
    takesEmptyBody: style.takesEmptyBody,
  }
  const answerOptions = { trpcOptions: handlerOptions, config, openStreams, ...style }
  const route = ruledRoute(app, rules, style.pathSeparator)
  const answerOfficially = officialHandler(handlerOptions, {
    around: openStreams ? aroundAny : around,
    openStreams,
    bodyLimitOf: route.bodyLimitOf,
  })

  app.all('/:path', route.options, (req: FastifyRequest, reply: FastifyReply): void | Promise<unknown> => {
    const request = engine === 'official' ? 'engine' : readRequest(req, reply, readOptions)
    if (typeof request === 'string') {
      counts.official[request] = (counts.official[request] ?? 0) + 1
      req.log.debug({ reason: request }, 'tRPC request left to the official adapter')
      return answerOfficially(req, reply)
    }
    counts[request.engine]++
    req.log.debug({ engine: request.engine }, 'tRPC request on the fast path')
    return sendWithOthers(reply, answer(request, answerOptions))
  })

  if (useWSS) {
    serveWebSockets(app, handlerOptions, {
      around,
      leavesOnClose: options.endStreamsOnClose ?? false,
    })
  }
}
