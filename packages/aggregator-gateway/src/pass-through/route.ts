import type { FastifyInstance } from 'fastify'
import { documentedPassThrough } from '../endpoint/response-schemas.ts'
import type { ResolvedPassThroughEndpoint } from '../options/resolved.ts'
import type { PlannedPassThrough } from './plan.ts'
import { ProxiedRequest } from './proxied-request.ts'

/** Adds the route of a pass-through endpoint. */
export function addPassThroughRoute(
  app: FastifyInstance,
  endpoint: ResolvedPassThroughEndpoint,
  plan: PlannedPassThrough,
  isAuthenticated: boolean,
): void {
  const { method, path } = endpoint
  const route = documentedPassThrough(endpoint, isAuthenticated)
  app.register((scope, _options, done) => {
    // Bodies of any type are streamed, not parsed.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload))
    scope.route({
      ...route,
      method: method === 'GET' ? ['GET', 'HEAD'] : method,
      url: path,
      handler: (request, reply) => {
        new ProxiedRequest(plan, request, reply).start()
      },
    })
    // Otherwise the app would wait for clients that never leave. An EventSource connects to the next server.
    scope.addHook('preClose', (closed) => {
      plan.endless.finish()
      closed()
    })
    done()
  })
}
