import { gatewayPlugin } from 'aggregator-gateway'
import type { FastifyInstance } from 'fastify'
import { createTrpcFastify } from 'trpc-fastify'
import { dashboard } from './dashboard.ts'
import { router } from './router.ts'

/** The app. It does not listen, so tests, the development server and clustered-server all use it. */
export default async function app(): Promise<FastifyInstance> {
  const instance = await createTrpcFastify({ router, prefix: '/trpc', fastify: { logger: { level: 'warn' } } })
  await instance.register(gatewayPlugin, dashboard(process.env.SERVICES ?? 'http://127.0.0.1:3001'))
  instance.get('/', async () => ({ try: ['/trpc/greet?input="Ada"', '/dashboard/7'] }))
  return instance
}
