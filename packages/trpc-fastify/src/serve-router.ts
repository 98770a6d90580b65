// The routes of one router, in a Fastify context of their own.

import type { AnyTRPCRouter } from '@trpc/server'
import { audibleLog } from 'checked-options'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { fallbackHandler } from './fallback.ts'
import { isUncompiled, type ResolvedOptions } from './options/schema.ts'
import type { TrpcPluginOptions } from './options/types.ts'
import { CallReporter } from './procedure/interceptors/call-reporter.ts'
import { createInterceptor, needsInterceptor } from './procedure/interceptors/create-interceptor.ts'
import { createRegistry } from './procedure/registry.ts'
import { ruleHooks } from './procedure/rule-hooks.ts'
import { ProcedureRules } from './procedure/rules.ts'
import { Serializers } from './procedure/serializer.ts'
import { canCompile, internalsOf, type RouterConfig } from './procedure/trpc-internals.ts'
import { type FallbackReason, parseRequest, type ParseOptions } from './request/parse-request.ts'
import { withoutFraming } from './response/framing.ts'
import { keepHeadAcrossHooks } from './response/head-across-hooks.ts'
import { OpenStreams } from './response/open-streams.ts'
import { respond } from './response/respond.ts'
import { sendBatched } from './response/send.ts'
import { probeTrpcDefaults, servesSubscriptions, type TrpcDefaults } from './response/trpc-defaults.ts'
import { serveWebSockets } from './websocket.ts'

/** Number of requests by the path that served them. */
export interface TrpcStats {
  /** Served on the fast path, where this package called each step of the procedures. */
  readonly compiled: number
  /** Served on the fast path, where tRPC's own code called at least one procedure. */
  readonly uncompiled: number
  /** Served by tRPC's own adapter, by reason. */
  readonly fallback: Readonly<Partial<Record<FallbackReason, number>>>
}

/** Counts requests of one router. */
export interface TrpcCounter {
  compiled: number
  uncompiled: number
  fallback: Partial<Record<FallbackReason, number>>
}

export interface RouterOptions extends ResolvedOptions {
  readonly trpcOptions: TrpcOptions
  /** Called with the counter of the router and its whole prefix. */
  readonly onCounter: (prefix: string, counter: TrpcCounter) => void
}

type TrpcOptions = TrpcPluginOptions<AnyTRPCRouter>['trpcOptions']

export async function serveRouter(app: FastifyInstance, options: RouterOptions): Promise<void> {
  const { fastPath, endStreamsOnClose } = options
  const trpcOptions = withoutFraming(options.trpcOptions)
  const internals = internalsOf(trpcOptions.router)
  const { config } = internals
  const rules = new ProcedureRules(options.procedures, internals)
  const serializers = new Serializers(rules, internals)
  const log = audibleLog(app.log, 'TrpcFastifyWarning')
  const reporter = new CallReporter(options, log)
  const interceptAll = createInterceptor(options, rules, serializers, { config, reporter })
  // An interceptor makes calls asynchronous, so it is left out where it has nothing to do.
  const intercept = needsInterceptor(options, rules) ? interceptAll : undefined
  const openStreams = endStreamsOnClose ? new OpenStreams() : undefined
  if (openStreams) app.addHook('preClose', async () => openStreams.endAll())
  const counter: TrpcCounter = { compiled: 0, uncompiled: 0, fallback: {} }
  options.onCounter(app.prefix, counter)
  const mode = isUncompiled(fastPath) ? 'uncompiled' : 'compiled'
  if (fastPath && mode === 'compiled' && !canCompile()) {
    log.warn('Unknown procedures of this @trpc/server version cost more CPU: update trpc-fastify')
  }
  parseBodiesAsText(app)
  reporter.reportStarts(app)
  const onSendHooks = keepHeadAcrossHooks(app, ':path')

  const defaults = await probeTrpcDefaults(config)
  const find = createRegistry(internals, { mode, intercept, serializers })
  const parseOptions = parseOptionsOf(trpcOptions, config, defaults, find)
  const respondOptions = { trpcOptions, config, openStreams, ...defaults }
  const hooks = ruleHooks(app, rules, defaults.pathSeparator)
  const { bodyLimitOf } = hooks
  const fallBack = fallbackHandler(trpcOptions, {
    intercept: openStreams ? interceptAll : intercept,
    openStreams,
    bodyLimitOf,
  })

  const routeOptions = { ...hooks.options, ...hiddenIn(app) }
  app.all('/:path', routeOptions, (req: FastifyRequest, reply: FastifyReply): void | Promise<unknown> => {
    const request = fastPath ? parseRequest(req, reply, parseOptions) : 'disabled'
    if (typeof request === 'string') {
      counter.fallback[request] = (counter.fallback[request] ?? 0) + 1
      req.log.debug({ reason: request }, "tRPC request served by tRPC's own adapter")
      return fallBack(req, reply)
    }
    counter[request.mode]++
    req.log.debug({ mode: request.mode }, 'tRPC request served on the fast path')
    return sendBatched(reply, respond(request, respondOptions), onSendHooks)
  })
  if (options.useWSS) serveWebSockets(app, trpcOptions, { intercept, rules, log, reconnectsOnClose: endStreamsOnClose })
}

/** Keeps the route out of the documents of `@fastify/swagger`: for all paths and methods, it would describe no procedure. */
function hiddenIn(app: FastifyInstance): { schema?: FastifySchema & { hide: true } } {
  // Without `@fastify/swagger` no schema is needed, and Fastify loads no validator.
  return app.hasDecorator('swagger') ? { schema: { hide: true } } : {}
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
