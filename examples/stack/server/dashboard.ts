import { KeyValueCacheStore, type GatewayPluginOptions } from 'aggregator-gateway'
import { openTelemetryObserver } from 'aggregator-gateway/opentelemetry'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Redis } from 'ioredis'
import { gatewayMetrics } from './metrics.ts'
import { settings } from './settings.ts'

/** `/api/dashboard`: one response from three services. */
export function dashboard(redis: Redis | undefined): GatewayPluginOptions & { prefix: string } {
  return {
    prefix: '/api',
    upstreams: {
      accounts: settings.accountsUrl,
      orders: settings.ordersUrl,
      // Its lists are the same for all users, and cached as long as they say.
      catalog: { origin: settings.catalogUrl, cache: redis ? { store: storeIn(redis) } : true },
    },
    endpoints: [
      {
        path: '/dashboard',
        timeout: 5000,
        // The paths name the user, so only requests of one user share their calls.
        coalesce: true,
        calls: {
          profile: { upstream: 'accounts', path: '/accounts/{user.name}', pick: ['name', 'fullName'] },
          orders: { upstream: 'orders', path: '/orders?user={user.name}' },
          featured: { upstream: 'catalog', path: '/featured', optional: true, timeout: 500, retries: 1 },
        },
        route: { onRequest: requireUser },
      },
    ],
    observers: [gatewayMetrics, openTelemetryObserver()],
  }
}

async function requireUser(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  // No cache on the way may store data of one user.
  reply.header('cache-control', 'private, no-store')
  return request.user ? undefined : reply.code(401).send({ error: 'Sign in first.' })
}

function storeIn(redis: Redis): KeyValueCacheStore {
  return new KeyValueCacheStore({
    get: (key) => redis.get(`gateway:${key}`),
    set: (key, value, milliseconds) => redis.set(`gateway:${key}`, value, 'PX', milliseconds),
    delete: (key) => redis.del(`gateway:${key}`),
  })
}
