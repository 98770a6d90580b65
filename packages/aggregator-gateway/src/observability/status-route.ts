// A route for operators: the status of the gateway's upstreams.

import type { FastifyInstance, FastifySchema } from 'fastify'
import type { GatewayStatus } from '../options/observer.ts'
import type { ResolvedStatus } from '../options/resolved.ts'

/** Hides the route from `@fastify/swagger`: it is not for clients. */
const HIDDEN: FastifySchema & { hide: true } = { hide: true }

export function addStatusRoute(
  app: FastifyInstance,
  { path, route }: ResolvedStatus,
  status: () => GatewayStatus,
): void {
  app.route({
    ...route,
    schema: { ...HIDDEN, ...route.schema },
    method: 'GET',
    url: path,
    handler: async (_request, reply) => reply.header('cache-control', 'no-store').send(status()),
  })
}
