// The routes of one router, in a Fastify context of their own.

import type { AnyTRPCRouter } from '@trpc/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fallbackHandler } from './fallback.ts'
import type { TrpcPluginOptions } from './options/types.ts'
import { createInterceptor, needsInterceptor } from './procedure/interceptors/interceptor.ts'
import { createRegistry } from './procedure/registry.ts'
import { ruleHooks } from './procedure/rule-hooks.ts'
import { ProcedureRules } from './procedure/rules.ts'
import { Serializers } from './procedure/serializer.ts'
import { canCompile, internalsOf, type RouterConfig } from './procedure/trpc-internals.ts'
import { type FallbackReason, parseRequest, type ParseOptions } from './request/parse-request.ts'
import { keepHeadAcrossHooks } from './response/on-send.ts'
import { OpenStreams } from './response/open-streams.ts'
import { respond } from './response/respond.ts'
import { sendBatched } from './response/send.ts'
import { probeTrpcDefaults, servesSubscriptions, type TrpcDefaults } from './response/trpc-defaults.ts'
import { serveWebSockets } from './websocket.ts'

/** How many requests took which path. */
export interface TrpcRequestCounts {
  /** Answered on the fast path, each step called by this package. */
  compiled: number
  /** Answered on the fast path, with a procedure that tRPC's own code called. */
  direct: number
  /** Answered by tRPC's own adapter, by reason. */
  readonly official: Partial<Record<FallbackReason, number>>
}

type TrpcOptions = TrpcPluginOptions<AnyTRPCRouter>['trpcOptions']

export async function serveRouter<TRouter extends AnyTRPCRouter>(
  app: FastifyInstance,
  { trpcOptions: typedOptions, useWSS, engine = 'compiled', procedures = {}, ...options }: TrpcPluginOptions<TRouter>,
): Promise<void> {
  const trpcOptions = typedOptions as unknown as TrpcOptions
  const internals = internalsOf(trpcOptions.router)
  const { config } = internals
  const rules = new ProcedureRules(procedures, internals)
  const serializers = new Serializers(rules, internals)
  const interceptAll = createInterceptor(options, rules, serializers, config)
  // An interceptor makes calls asynchronous, so it is left out where it has nothing to do.
  const intercept = needsInterceptor(options, rules) ? interceptAll : undefined
  const openStreams = options.endStreamsOnClose ? new OpenStreams() : undefined
  if (openStreams) app.addHook('preClose', async () => openStreams.endAll())

  const counts: TrpcRequestCounts = { compiled: 0, direct: 0, official: {} }
  app.trpcRequests.set(app.prefix, counts)
  if (engine === 'compiled' && !canCompile()) {
    app.log.warn('trpc-fastify does not know the procedures of this @trpc/server: it calls them by their own code')
  }
  parseBodiesAsText(app)
  keepHeadAcrossHooks(app)

  const defaults = await probeTrpcDefaults(config)
  const mode = engine === 'direct' ? 'uncompiled' : 'compiled'
  const find = createRegistry(internals, { mode, intercept, serializers })
  const parseOptions = parseOptionsOf(trpcOptions, config, defaults, find)
  const respondOptions = { trpcOptions, config, openStreams, ...defaults }
  const hooks = ruleHooks(app, rules, defaults.pathSeparator)
  const fallBack = fallbackHandler(trpcOptions, {
    intercept: openStreams ? interceptAll : intercept,
    openStreams,
    bodyLimitOf: hooks.bodyLimitOf,
  })

  app.all('/:path', hooks.options, (req: FastifyRequest, reply: FastifyReply): void | Promise<unknown> => {
    const request = engine === 'official' ? 'engine' : parseRequest(req, reply, parseOptions)
    if (typeof request === 'string') {
      counts.official[request] = (counts.official[request] ?? 0) + 1
      req.log.debug({ reason: request }, 'tRPC request left to the official adapter')
      return fallBack(req, reply)
    }
    if (request.mode === 'compiled') counts.compiled++
    else counts.direct++
    req.log.debug({ engine: request.mode }, 'tRPC request on the fast path')
    return sendBatched(reply, respond(request, respondOptions))
  })
  if (useWSS) serveWebSockets(app, trpcOptions, { intercept, reconnectsOnClose: options.endStreamsOnClose ?? false })
}

/** The fast path parses JSON itself, and tRPC's own adapter reads uploads from the request. */
function parseBodiesAsText(app: FastifyInstance): void {
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.removeContentTypeParser('multipart/form-data')
  app.addContentTypeParser('multipart/form-data', {}, (_request, body, done) => done(null, body))
}

function parseOptionsOf(
  trpcOptions: TrpcOptions,
  config: RouterConfig,
  { pathSeparator, takesEmptyBody }: TrpcDefaults,
  find: ParseOptions['find'],
): ParseOptions {
  return {
    find,
    pathSeparator,
    deserialize: (input) => config.transformer.input.deserialize(input) as unknown,
    allowBatching: trpcOptions.allowBatching ?? trpcOptions.batching?.enabled ?? true,
    allowMethodOverride: trpcOptions.allowMethodOverride ?? false,
    maxBatchSize: trpcOptions.maxBatchSize,
    servesSubscriptions: servesSubscriptions(config),
    takesEmptyBody,
  }
}
