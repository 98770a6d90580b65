import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Aggregate, type PlannedEndpoint } from './endpoint/endpoint-request.ts'
import { ResponseCache } from './cache/response-cache.ts'
import { callLog } from './observability/call-log.ts'
import { Coalescing } from './endpoint/coalescing.ts'
import { recordingBodies } from './request/forwarded-body.ts'
import { keepClasses } from './endpoint/retained-classes.ts'
import { type Observing, Observers, statusOf } from './observability/observers.ts'
import { documented } from './endpoint/openapi.ts'
import {
  checkOptions,
  type EndpointOptions,
  type GatewayPluginOptions,
  type PassThroughEndpointOptions,
} from './options/options.ts'
import { addPassThrough } from './pass-through/proxied-request.ts'
import { coalesces, planEndpoint } from './endpoint/plan.ts'
import { demandRateLimit } from './endpoint/rate-limit.ts'
import { addStatus } from './observability/status-route.ts'
import { Upstream } from './upstream/upstream.ts'

/** Answers endpoints by calls to upstreams, in an app that is there. */
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
  const observers = observersOf(options, app, upstreams)
  keepClasses()
  app.addHook('onClose', async () => {
    observers?.closed()
    await Promise.all([...upstreams.values()].map((upstream) => upstream.close()))
  })
  addCaches(upstreams, options)
  for (const [index, endpoint] of options.endpoints.entries()) {
    const where = `endpoints[${index}]`
    demandRateLimit(endpoint.route ?? {}, `${where}.route`, app)
    if (endpoint.passThrough) {
      addPassThrough(app, endpoint, where, upstreams, observers && observing(observers, endpoint, app.prefix))
      continue
    }
    const planned = planEndpoint(endpoint, where, upstreams, observers && observing(observers, endpoint, app.prefix))
    const route = documented(endpoint, where, app)
    const forwardsBody = planned.calls.some((call) => call.forwardsBody)
    app.route({
      ...(forwardsBody ? recordingBodies(route) : route),
      method: endpoint.method ?? 'GET',
      url: endpoint.path,
      handler: handlerOf(planned, coalesces(endpoint, where, options.coalesce ?? false)),
    })
  }
  const { status = false } = options
  if (status !== false) {
    const { route = {}, ...others } = status === true ? {} : status
    demandRateLimit(route, 'status.route', app)
    addStatus(app, { route, ...others }, statusOf(upstreams))
  }
  observers?.opened()
}

/** Those who are told of calls; nothing when nobody is. */
function observersOf(
  { observers = [], callLogLevel = 'silent' }: GatewayPluginOptions,
  app: FastifyInstance,
  upstreams: ReadonlyMap<string, Upstream>,
): Observers | undefined {
  const all = callLogLevel === 'silent' ? observers : [...observers, callLog(callLogLevel)]
  return all.length === 0 ? undefined : new Observers(all, app.log, upstreams)
}

function observing(
  observers: Observers,
  { method: own = 'GET', path: ownPath, calls, passThrough }: EndpointOptions | PassThroughEndpointOptions,
  prefix: string,
): Observing {
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
  const longest = Math.max(...endpoints.map(({ timeout = 2000 }) => timeout))
  for (const [name, upstream] of upstreams) {
    const one = options[name]!
    const cache = typeof one === 'string' ? undefined : one.cache
    if (!cache) continue
    upstream.cache = new ResponseCache(upstream, cache === true ? {} : cache, longest)
  }
}

function handlerOf(
  endpoint: PlannedEndpoint,
  isCoalescing: boolean,
): (request: FastifyRequest, reply: FastifyReply) => void {
  if (isCoalescing) {
    const coalescing = new Coalescing(endpoint)
    return (request, reply) => coalescing.answer(request, reply)
  }
  return (request, reply) => {
    const aggregate = new Aggregate(endpoint, request)
    aggregate.join(reply)
    aggregate.start()
  }
}

/**
 * Merges the answers of many upstream calls into one.
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
