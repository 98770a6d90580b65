import type { FastifyInstance } from 'fastify'
import type { TrpcPluginOptions } from 'trpc-fastify'
import { openTelemetryObserver } from 'trpc-fastify/opentelemetry'
import { trpcMetrics } from './metrics.ts'
import { type AppRouter, appRouter, createContext } from './router.ts'

/** The tRPC API. Register the rate limits before. */
export function api(app: FastifyInstance): TrpcPluginOptions<AppRouter> {
  return {
    prefix: '/trpc',
    trpcOptions: {
      router: appRouter,
      createContext,
      responseMeta: () => ({ headers: { 'cache-control': 'private, no-store' } }),
    },
    procedures: {
      'session.signIn': {
        rateLimit: app.createRateLimit({ max: 10, timeWindow: '1 minute', keyGenerator: ({ ip }) => `sign-in:${ip}` }),
        bodyLimit: 1024,
      },
    },
    // Subscriptions reconnect to a worker that goes on.
    endStreamsOnClose: true,
    observers: [trpcMetrics, openTelemetryObserver()],
  }
}
