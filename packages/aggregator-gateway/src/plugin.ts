import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ResponseCache } from './cache/response-cache.ts'
import { Coalescing, isCoalescing } from './endpoint/coalescing.ts'
import { EndpointRequest } from './endpoint/endpoint-request.ts'
import { documented } from './endpoint/openapi.ts'
import { planEndpoint } from './endpoint/plan.ts'
import type { PlannedEndpoint } from './endpoint/planned-endpoint.ts'
import { assertRateLimit } from './endpoint/rate-limit.ts'
import { retainClasses } from './endpoint/retained-classes.ts'
import { callLog } from './observability/call-log.ts'
import { type Instrumentation, Observers } from './observability/observers.ts'
import { addStatusRoute } from './observability/status-route.ts'
import type { EndpointOptions, PassThroughEndpointOptions } from './options/endpoint-options.ts'
import type { GatewayPluginOptions } from './options/gateway-options.ts'
import type { GatewayStatus } from './options/observer.ts'
import { checkOptions } from './options/validate.ts'
import { planPassThrough } from './pass-through/plan.ts'
import { addPassThroughRoute } from './pass-through/route.ts'
import { recordingBodies } from './request/forwarded-body.ts'
import { statusOf } from './upstream/gateway-status.ts'
import { Upstream } from './upstream/upstream.ts'

type GatewayPlugin = <const Endpoints extends readonly unknown[]>(
  app: FastifyInstance,
  options: GatewayPluginOptions<Endpoints>,
) => Promise<void>

const plugin = async (app: FastifyInstance, options: GatewayPluginOptions): Promise<void> => {
  checkOptions(options, ['prefix', 'logLevel', 'logSerializers'])
  const upstreams = new Map(
    Object.entries(options.upstreams).map(([name, upstream]) => [
      name,
      new Upstream(name, typeof upstream === 'string' ? { origin: upstream } : upstream),
    ]),
  )
  const status = statusOf(upstreams)
  const observers = observersOf(options, app, status)
  retainClasses()
  app.addHook('onClose', async () => {
    observers?.closed()
    await Promise.all([...upstreams.values()].map((upstream) => upstream.close()))
  })
  addCaches(upstreams, options)
  for (const [index, endpoint] of options.endpoints.entries()) {
    const where = `endpoints[${index}]`
    assertRateLimit(endpoint.route ?? {}, `${where}.route`, app)
    const instrumentation = observers && instrumentationOf(observers, endpoint, app.prefix)
    if (endpoint.passThrough) {
      const plan = planPassThrough(endpoint, `${where}.passThrough`, upstreams, instrumentation)
      addPassThroughRoute(app, endpoint, plan)
    } else {
      const plan = planEndpoint(endpoint, where, upstreams, instrumentation)
      addRoute(app, endpoint, where, plan, options.coalesce ?? false)
    }
  }
  addStatus(app, options, status)
  observers?.opened()
}

function addRoute(
  app: FastifyInstance,
  endpoint: EndpointOptions,
  where: string,
  plan: PlannedEndpoint,
  coalesce: boolean,
): void {
  const route = documented(endpoint, where, app)
  const forwardsBody = plan.calls.some((call) => call.forwardsBody)
  app.route({
    ...(forwardsBody ? recordingBodies(route) : route),
    method: endpoint.method ?? 'GET',
    url: endpoint.path,
    handler: handlerOf(plan, isCoalescing(endpoint, where, coalesce)),
  })
}

function addStatus(app: FastifyInstance, { status = false }: GatewayPluginOptions, read: () => GatewayStatus): void {
  if (status === false) return
  const { route = {}, ...others } = status === true ? {} : status
  assertRateLimit(route, 'status.route', app)
  addStatusRoute(app, { route, ...others }, read)
}

/** The observers of the gateway; undefined if there are none. */
function observersOf(
  { observers = [], callLogLevel = 'silent' }: GatewayPluginOptions,
  app: FastifyInstance,
  status: () => GatewayStatus,
): Observers | undefined {
  const all = callLogLevel === 'silent' ? observers : [...observers, callLog(callLogLevel)]
  return all.length === 0 ? undefined : new Observers(all, app.log, { status })
}

function instrumentationOf(
  observers: Observers,
  { method: own = 'GET', path: ownPath, calls, passThrough }: EndpointOptions | PassThroughEndpointOptions,
  prefix: string,
): Instrumentation {
  const endpoint = { method: own, path: prefix + ownPath }
  const all = passThrough ? { passThrough: { method: own, ...passThrough } } : calls
  return {
    observers,
    calls: Object.entries(all).map(([name, { upstream, method = 'GET', path }]) => {
      return { endpoint, name, upstream, method, path }
    }),
  }
}

function addCaches(
  upstreams: ReadonlyMap<string, Upstream>,
  { upstreams: options, endpoints }: GatewayPluginOptions,
): void {
  const maxTimeout = Math.max(...endpoints.map(({ timeout = 2000 }) => timeout))
  for (const [name, upstream] of upstreams) {
    const one = options[name]!
    const cache = typeof one === 'string' ? undefined : one.cache
    if (cache) upstream.cache = new ResponseCache(upstream, cache === true ? {} : cache, maxTimeout)
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
 * @throws GATEWAY_INVALID_OPTION
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
  encapsulate: true,
}) as GatewayPlugin
