import Fastify, { type FastifyInstance } from 'fastify'
import type { CreateAggregatorGatewayOptions } from './options/gateway-options.ts'
import { resolveOptions } from './options/resolve.ts'
import { factorySchema } from './options/schema.ts'
import { gatewayPlugin } from './plugin.ts'

/**
 * Creates a Fastify app that serves endpoints by calls to upstreams: `Fastify()` plus {@link gatewayPlugin}.
 *
 * @throws AGGREGATOR_GATEWAY_INVALID_OPTION
 *
 * @example
 * const app = await createAggregatorGateway({
 *   upstreams: { users: 'http://users:3000', orders: 'http://orders:3000' },
 *   endpoints: [
 *     {
 *       path: '/dashboard/:id',
 *       calls: {
 *         profile: { upstream: 'users', path: '/users/{params.id}' },
 *         orders: { upstream: 'orders', path: '/orders?user={params.id}', optional: true },
 *       },
 *     },
 *   ],
 * })
 * await app.listen({ port: 3000 })
 */
export async function createAggregatorGateway<const Endpoints extends readonly unknown[]>(
  options: CreateAggregatorGatewayOptions<Endpoints>,
): Promise<FastifyInstance> {
  // Before Fastify takes its options.
  resolveOptions(factorySchema, options)
  const { fastify = {}, ...pluginOptions } = options
  const app = Fastify(fastify)
  await app.register(gatewayPlugin<Endpoints>, pluginOptions)
  return app
}
