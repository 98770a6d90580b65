import { audibleLog } from 'checked-options'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RegisterOptions,
  RouteShorthandOptions,
} from 'fastify'
import fp from 'fastify-plugin'
import { StoreLog } from './cache/store-log.ts'
import { ResponseCache } from './cache/response-cache.ts'
import { loadValidator } from './call/schema-validator.ts'
import { Coalescing, isCoalescing } from './endpoint/coalescing.ts'
import { EndpointRequest } from './endpoint/endpoint-request.ts'
import { documented } from './endpoint/response-schemas.ts'
import { planEndpoint } from './endpoint/plan.ts'
import type { PlannedEndpoint } from './endpoint/planned-endpoint.ts'
import { assertRateLimit } from './endpoint/rate-limit-check.ts'
import { retainClasses } from './endpoint/retained-classes.ts'
import { addStats, decorateStats } from './stats-decorator.ts'
import { callLog } from './observability/call-log.ts'
import { type Instrumentation, Observers } from './observability/observers.ts'
import { addStatusRoute } from './observability/status-route.ts'
import type { GatewayPluginOptions } from './options/gateway-options.ts'
import type { GatewayStatus } from './options/observer.ts'
import { resolveOptions } from './options/resolve.ts'
import type { ResolvedEndpoint, ResolvedGateway, ResolvedPassThroughEndpoint } from './options/resolved.ts'
import { pluginSchema } from './options/schema.ts'
import { planPassThrough } from './pass-through/plan.ts'
import { addPassThroughRoute } from './pass-through/route.ts'
import { authenticatedRoute, securedRoute } from './request/claims.ts'
import { recordingBodies } from './request/forwarded-body.ts'
import { statusOf } from './upstream/upstream-states.ts'
import { Upstream } from './upstream/upstream.ts'

// In this module, which declarations import: a module that none imports is not part of a consumer's types.
declare module 'fastify' {
  interface FastifyInstance {
    /** Returns the state of a gateway's upstreams, as its status route shows it. Undefined if no gateway has this prefix. */
    gatewayStats: (prefix?: string) => GatewayStatus | undefined
  }
}

type GatewayPlugin = <const Endpoints extends readonly unknown[]>(
  app: FastifyInstance,
  options: GatewayPluginOptions<Endpoints>,
) => Promise<void>

const plugin = async (app: FastifyInstance, options: GatewayPluginOptions): Promise<void> => {
  const resolved = resolveOptions(pluginSchema, options)
  decorateStats(app)
  // Routes and hooks must not leak into the app: they have a context of their own.
  await app.register(async (scope) => serve(scope, resolved), scopeOptionsOf(options))
}

/** The options that Fastify takes when it registers a plugin. */
function scopeOptionsOf(options: GatewayPluginOptions & RegisterOptions): RegisterOptions {
  const { prefix = '', logLevel, logSerializers } = options
  return { prefix, ...(logLevel && { logLevel }), ...(logSerializers && { logSerializers }) }
}

async function serve(app: FastifyInstance, options: ResolvedGateway): Promise<void> {
  const upstreams = new Map(Object.entries(options.upstreams).map(([name, one]) => [name, new Upstream(name, one)]))
  const status = statusOf(upstreams)
  const observers = observersOf(options, app, status)
  retainClasses()
  app.addHook('onClose', async () => {
    observers?.closed()
    await Promise.all([...upstreams.values()].map((upstream) => upstream.close()))
  })
  addCaches(upstreams, options, audibleLog(app.log, 'AggregatorGatewayWarning'))
  const validates = ({ calls = {} }: { readonly calls?: ResolvedEndpoint['calls'] }): boolean =>
    Object.values(calls).some(({ validate }) => validate)
  const compileSchema = options.endpoints.some(validates) ? await loadValidator(app.getSchemas()) : undefined
  for (const [index, given] of options.endpoints.entries()) {
    const where = `endpoints[${index}]`
    const { endpoint, isAuthenticated } = authenticated(given, options)
    assertRateLimit(endpoint.route, `${where}.route`, app)
    const instrumentation = observers && instrumentationOf(observers, endpoint, app.prefix)
    if (endpoint.passThrough) {
      const plan = planPassThrough(endpoint, `${where}.passThrough`, upstreams, instrumentation, isAuthenticated)
      addPassThroughRoute(app, endpoint, plan, isAuthenticated)
    } else {
      const plan = planEndpoint(endpoint, where, upstreams, instrumentation, compileSchema)
      addRoute(
        app,
        endpoint,
        plan,
        documented(endpoint, where, app, isAuthenticated),
        isCoalescing(endpoint, where, options.coalesce),
      )
    }
  }
  addStats(app, status)
  if (options.status) {
    assertRateLimit(options.status.route, 'status.route', app)
    addStatusRoute(app, options.status, status)
  }
  observers?.opened()
}

/** An endpoint whose route verifies its clients, unless it is public. Its document says so. */
function authenticated<T extends ResolvedGateway['endpoints'][number]>(
  endpoint: T,
  { authentication: authenticator }: ResolvedGateway,
): { endpoint: T; isAuthenticated: boolean } {
  const { authentication = true } = endpoint
  if (!authenticator) return { endpoint, isAuthenticated: false }
  const route = securedRoute(endpoint.route, authenticator, authentication)
  if (authentication === false) return { endpoint: { ...endpoint, route }, isAuthenticated: false }
  const verified = authenticatedRoute(route, authenticator, authentication === 'optional')
  return { endpoint: { ...endpoint, route: verified }, isAuthenticated: true }
}

function addRoute(
  app: FastifyInstance,
  endpoint: ResolvedEndpoint,
  plan: PlannedEndpoint,
  route: RouteShorthandOptions,
  coalesces: boolean,
): void {
  const forwardsBody = plan.calls.some((call) => call.forwardsBody)
  app.route({
    ...(forwardsBody ? recordingBodies(route) : route),
    method: endpoint.method,
    url: endpoint.path,
    handler: handlerOf(plan, coalesces),
  })
}

/** The observers of the gateway; undefined if there are none. */
function observersOf(
  { observers, callLogLevel }: ResolvedGateway,
  app: FastifyInstance,
  status: () => GatewayStatus,
): Observers | undefined {
  const all = callLogLevel === 'silent' ? observers : [...observers, callLog(callLogLevel)]
  const log = audibleLog(app.log, 'AggregatorGatewayWarning')
  // The log of an app without a logger is replaced by warnings of the process.
  if (callLogLevel !== 'silent' && log !== app.log) {
    log.warn('callLogLevel logs nothing, because the log is off. Turn it on by Fastify({ logger: true }).')
  }
  return all.length === 0 ? undefined : new Observers(all, log, { status })
}

function instrumentationOf(
  observers: Observers,
  { method: own, path: ownPath, calls, passThrough }: ResolvedEndpoint | ResolvedPassThroughEndpoint,
  prefix: string,
): Instrumentation {
  const endpoint = { method: own, path: prefix + ownPath }
  const all = passThrough ? { passThrough } : calls
  return {
    observers,
    calls: Object.entries(all).map(([name, { upstream, method = own, path }]) => {
      return { endpoint, name, upstream, method, path }
    }),
  }
}

function addCaches(
  upstreams: ReadonlyMap<string, Upstream>,
  options: ResolvedGateway,
  log: Pick<FastifyBaseLogger, 'warn'>,
): void {
  const maxTimeout = Math.max(...options.endpoints.map(({ timeout }) => timeout))
  for (const [name, upstream] of upstreams) {
    const { cache } = options.upstreams[name]!
    if (cache) upstream.cache = new ResponseCache(upstream, cache, maxTimeout, new StoreLog(log, name))
  }
}

function handlerOf(
  endpoint: PlannedEndpoint,
  coalesces: boolean,
): (request: FastifyRequest, reply: FastifyReply) => void {
  if (coalesces) {
    const coalescing = new Coalescing(endpoint)
    return (request, reply) => coalescing.serve(request, reply)
  }
  return (request, reply) => {
    const one = new EndpointRequest(endpoint, request)
    one.join(reply)
    one.start()
  }
}

/**
 * Merges the responses of many upstream calls into one.
 *
 * @throws AGGREGATOR_GATEWAY_INVALID_OPTION
 *
 * @example
 * await app.register(gatewayPlugin, {
 *   upstreams: { users: 'http://users:3000' },
 *   endpoints: [{ path: '/me/:id', calls: { profile: { upstream: 'users', path: '/users/{params.id}' } } }],
 * })
 */
export const gatewayPlugin: GatewayPlugin = fp(plugin as never, {
  fastify: '5.x',
  name: 'aggregator-gateway',
}) as GatewayPlugin
