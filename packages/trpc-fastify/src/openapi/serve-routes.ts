// The routes of procedures with `meta.openapi`, in a Fastify context of their own.

import type { AnyTRPCRouter } from '@trpc/server'
import { audibleLog } from 'checked-options'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { isUncompiled, type ResolvedOptions } from '../options/schema.ts'
import { RULE_HOOKS, type TrpcPluginOptions } from '../options/types.ts'
import { CallReporter } from '../procedure/interceptors/call-reporter.ts'
import { createInterceptor, needsInterceptor } from '../procedure/interceptors/create-interceptor.ts'
import { createRegistry, type RegisteredProcedure } from '../procedure/registry.ts'
import { matches, ProcedureRules } from '../procedure/rules.ts'
import { Serializers } from '../procedure/serializer.ts'
import { internalsOf } from '../procedure/trpc-internals.ts'
import { TrpcRequest } from '../request/trpc-request.ts'
import { callProcedure, createContext, type RespondOptions } from '../response/call-procedure.ts'
import { withoutFraming } from '../response/framing.ts'
import { probeTrpcDefaults } from '../response/trpc-defaults.ts'
import { chain } from '../runtime/sync-chain.ts'
import { type RestProcedure, restProcedures } from './meta.ts'
import { inputReader, type ReadInput, RestInput } from './rest-input.ts'
import { hasBody, inputSchemaOf, routeSchemaOf } from './route-schema.ts'
import { sendBatched, toJson, unsupportedType } from './send-result.ts'

export interface OpenApiRouterOptions extends ResolvedOptions {
  readonly trpcOptions: TrpcPluginOptions<AnyTRPCRouter>['trpcOptions']
}

export async function serveRoutes(app: FastifyInstance, options: OpenApiRouterOptions): Promise<void> {
  const { fastPath } = options
  const trpcOptions = withoutFraming(options.trpcOptions)
  const internals = internalsOf(trpcOptions.router)
  const { config, lazyPaths } = internals
  const rules = new ProcedureRules(options.procedures, internals)
  const serializers = new Serializers(rules, internals)
  const log = audibleLog(app.log, 'TrpcFastifyWarning')
  const reporter = new CallReporter(options, log)
  const intercept = needsInterceptor(options, rules)
    ? createInterceptor(options, rules, serializers, { config, reporter })
    : undefined
  const find = createRegistry(internals, {
    mode: fastPath && !isUncompiled(fastPath) ? 'compiled' : 'uncompiled',
    intercept,
    serializers,
  })
  // No header of tRPC's own protocol.
  const respondOptions = {
    trpcOptions,
    config,
    openStreams: undefined,
    ...(await probeTrpcDefaults(config)),
    headers: {},
  }
  if (lazyPaths.length > 0) {
    log.warn({ paths: lazyPaths }, 'Lazy routers have no OpenAPI routes, because their procedures are not loaded')
  }
  reporter.reportStarts(app)
  // A form of another site can send plain text with the user's cookies.
  if (app.hasContentTypeParser('text/plain')) app.removeContentTypeParser('text/plain')

  for (const procedure of restProcedures(internals)) {
    const target = find(procedure.path)!
    const input = inputSchemaOf(procedure, target.procedure)
    const { method } = procedure.openapi
    app.route({
      ...ruleOptions(rules, procedure.path),
      method,
      url: procedure.url,
      schema: routeSchemaOf(procedure, target.procedure, input),
      // The schema documents the route. The validators of the procedure see all inputs.
      validatorCompiler: () => () => true,
      serializerCompiler: () => toJson,
      handler: handlerOf(procedure, target, inputReader(input, hasBody(method)), respondOptions),
    })
  }
}

function handlerOf(
  { path, contentTypes, openapi: { method } }: RestProcedure,
  target: RegisteredProcedure,
  read: ReadInput,
  options: RespondOptions,
): (req: FastifyRequest, reply: FastifyReply) => unknown {
  const withBody = hasBody(method)
  return (req, reply) => {
    if (withBody) {
      const refused = unsupportedType(req, contentTypes)
      if (refused) {
        // An error handler of the app gets errors of procedures after their status is set, too.
        reply.code(refused.statusCode)
        throw refused
      }
    }
    const request = new TrpcRequest(req, reply, {
      isBatch: false,
      isStream: false,
      connectionParams: null,
      lastEventId: null,
      procedures: [target],
      paths: [path],
      inputs: new RestInput(req, read),
    })
    const result = chain(createContext(request, options), (contextError) => {
      return callProcedure(request, 0, contextError, options)
    })
    return sendBatched(request, result, options)
  }
}

/** The hooks and the body limit of all rules for a procedure, the most general first. */
function ruleOptions(rules: ProcedureRules, path: string): RouteShorthandOptions {
  const applied = rules.all.filter(([pattern]) => matches(pattern, path)).map(([, rule]) => rule)
  const hooks = RULE_HOOKS.map((name) => [name, applied.flatMap((rule) => rule[name] ?? [])] as const)
  const { bodyLimit } = rules.of(path)
  return {
    ...(Object.fromEntries(hooks.filter(([, all]) => all.length > 0)) as RouteShorthandOptions),
    ...(bodyLimit === undefined ? {} : { bodyLimit }),
  }
}
