// The app of each worker: one Fastify with sessions, limits, traces, a tRPC API, a gateway and a Next app.

import helmet from '@fastify/helmet'
import { gatewayPlugin } from 'aggregator-gateway'
import Fastify, { type FastifyInstance } from 'fastify'
import { bareClientError, nextPlugin, routableUrl } from 'next-on-fastify'
import { trpcPlugin } from 'trpc-fastify'
import { api } from './server/api.ts'
import { dashboard } from './server/dashboard.ts'
import { checkForwardedHeaders } from './server/forwarded-headers.ts'
import { pages } from './server/pages.ts'
import { limitRequests } from './server/rate-limits.ts'
import { connectRedis } from './server/redis.ts'
import type { AppRouter } from './server/router.ts'
import { session } from './server/session.ts'
import { settings } from './server/settings.ts'
import { traceRequests } from './server/tracing.ts'

/** `clustered-server` adds up the metrics of all workers. */
export { registry as metrics } from './server/metrics.ts'

export default async function createApp(): Promise<FastifyInstance> {
  const app = Fastify({
    rewriteUrl: routableUrl,
    clientErrorHandler: bareClientError,
    logger: { level: settings.logLevel },
    trustProxy: settings.trustedProxies ?? false,
    // Requests that arrive during a reload are served.
    return503OnClosing: false,
    // A batch of tRPC names all its procedures in one segment of the path.
    routerOptions: { maxParamLength: 5000 },
  })
  // Before all routes.
  if (settings.tracesUrl !== undefined) await traceRequests(app, settings.tracesUrl)
  const redis = settings.redisUrl === undefined ? undefined : await connectRedis(settings.redisUrl, app.log)
  // Registered first, it runs last: Next needs its cache until all requests have ended.
  app.addHook('onClose', () => redis?.disconnect())

  checkForwardedHeaders(app)
  // Inline scripts of cached pages cannot have a nonce, so there is no policy for scripts.
  await app.register(helmet, { contentSecurityPolicy: false })
  await app.register(session, { secret: settings.sessionSecret })
  await limitRequests(app, settings.rateLimit, redis)

  app.get('/health', { logLevel: 'warn' }, () => 'ok')
  await app.register(trpcPlugin<AppRouter>, api(app))
  await app.register(gatewayPlugin, dashboard(redis))
  await app.register(nextPlugin, pages(redis))
  return app
}

/** Loads the pages that most visitors open first, before a new worker accepts connections. */
export async function warmUp(app: FastifyInstance): Promise<void> {
  for (const page of ['/', '/catalog', '/sign-in']) await app.inject(page)
}
