/// <reference types="@fastify/websocket" />
import type { AnyTRPCRouter } from '@trpc/server'
import { fastifyRequestHandler } from '@trpc/server/adapters/fastify'
import { getWSConnectionHandler, type WSSHandlerOptions } from '@trpc/server/adapters/ws'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { answerStyle, servesSubscriptions } from './answer-style.ts'
import { answer, send } from './answer.ts'
import { isThenable } from './chain.ts'
import { latest } from './latest.ts'
import { compile } from './engine.ts'
import { WebSocketMissingError } from './errors.ts'
import { canCompile, definitionOf, internalsOf } from './internals.ts'
import { checkOptions, type TrpcPluginOptions } from './options.ts'
import { type FastProcedure, type OfficialReason, readRequest } from './request.ts'

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
  { trpcOptions, useWSS, engine = 'compiled' }: TrpcPluginOptions<TRouter>,
): Promise<void> {
  const handlerOptions = trpcOptions as unknown as TrpcPluginOptions<AnyTRPCRouter>['trpcOptions']
  const { router } = handlerOptions
  const counts: TrpcRequestCounts = { compiled: 0, direct: 0, official: {} }
  app.trpcRequests.set(app.prefix, counts)

  if (engine === 'compiled' && !canCompile) {
    app.log.warn('trpc-fastify does not know the procedures of this @trpc/server: it calls them by their own code')
  }

  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.removeContentTypeParser('multipart/form-data')
  app.addContentTypeParser('multipart/form-data', {}, (_request, body, done) => done(null, body))

  const { config, find } = internalsOf(router)
  const style = await answerStyle(config)
  const known = new Map<string, FastProcedure>()
  const readOptions = {
    find(path: string): FastProcedure | undefined {
      const found = known.get(path)
      if (found) return found
      const procedure = find(path)
      if (!procedure) return undefined
      const target = {
        procedure,
        type: definitionOf(procedure).type,
        ...compile(procedure, engine === 'direct' ? 'direct' : 'compiled'),
      }
      known.set(path, target)
      return target
    },
    pathSeparator: style.pathSeparator,
    deserialize: (input: unknown): unknown => config.transformer.input.deserialize(input) as unknown,
    allowBatching: handlerOptions.allowBatching ?? handlerOptions.batching?.enabled ?? true,
    allowMethodOverride: handlerOptions.allowMethodOverride ?? false,
    maxBatchSize: handlerOptions.maxBatchSize,
    servesSubscriptions: servesSubscriptions(config),
    takesEmptyBody: style.takesEmptyBody,
  }
  const answerOptions = { trpcOptions: handlerOptions, config, ...style }

  app.all('/:path', (req: FastifyRequest, reply: FastifyReply): void | Promise<unknown> => {
    const request = engine === 'official' ? 'engine' : readRequest(req, reply, readOptions)
    if (typeof request === 'string') {
      counts.official[request] = (counts.official[request] ?? 0) + 1
      req.log.debug({ reason: request }, 'tRPC request left to the official adapter')
      const { path } = req.params as { path: string }
      return fastifyRequestHandler({ ...handlerOptions, req, res: reply, path })
    }
    latest.request = request
    counts[request.engine]++
    req.log.debug({ engine: request.engine }, 'tRPC request on the fast path')
    const answered = answer(request, answerOptions)
    if (!isThenable(answered)) return send(reply, answered)
    return answered.then((ready) => {
      send(reply, ready)
      // With asynchronous `onSend` hooks the answer is not out yet; Fastify waits for it then.
      return reply.raw.headersSent ? undefined : reply
    })
  })

  if (useWSS) {
    const onConnection = getWSConnectionHandler(trpcOptions as unknown as WSSHandlerOptions<TRouter>)
    app.get(app.prefix === '' ? '/' : '', { websocket: true }, (socket, req) => onConnection(socket, req.raw))
  }
}
