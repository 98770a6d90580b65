// A page for those who run the gateway: how its upstreams are.

import type { FastifyInstance, FastifySchema, RouteShorthandOptions } from 'fastify'
import type { GatewayStatus } from './observers.ts'

/** Where the status of the gateway is, and who may see it. */
export interface StatusOptions {
  /** Its path, below the prefix. @default '/__gateway' */
  path?: string
  /** Options of its route, as Fastify takes them, such as an `onRequest` hook that asks who it is. @default {} */
  route?: RouteShorthandOptions
}

/** From documents of `@fastify/swagger`: it is no part of what clients are offered. */
const HIDDEN: FastifySchema & { hide: true } = { hide: true }

/** Answers how upstreams are. */
export function addStatus(app: FastifyInstance, options: StatusOptions, status: () => GatewayStatus): void {
  const { path = '/__gateway', route = {} } = options
  app.route({
    ...route,
    schema: { ...HIDDEN, ...route.schema },
    method: 'GET',
    url: path,
    handler: async (_request, reply) => reply.header('cache-control', 'no-store').send(status()),
  })
}
