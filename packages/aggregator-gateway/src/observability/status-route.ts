// A route for operators: the status of the gateway's upstreams.

import type { FastifyInstance, FastifySchema } from 'fastify'
import type { StatusOptions } from '../options/gateway-options.ts'
import type { GatewayStatus } from '../options/observer.ts'

/** Hides the route from `@fastify/swagger`: it is not for clients. */
const HIDDEN: FastifySchema & { hide: true } = { hide: true }

export function addStatusRoute(app: FastifyInstance, options: StatusOptions, status: () => GatewayStatus): void {
  const { path = '/__gateway', route = {} } = options
  app.route({
    ...route,
    schema: { ...HIDDEN, ...route.schema },
    method: 'GET',
    url: path,
    handler: async (_request, reply) => reply.header('cache-control', 'no-store').send(status()),
  })
}
