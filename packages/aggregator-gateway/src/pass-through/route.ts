import type { FastifyInstance } from 'fastify'
import { withUnauthenticated } from '../endpoint/response-schemas.ts'
import type { ResolvedPassThroughEndpoint } from '../options/resolved.ts'
import type { PlannedPassThrough } from './plan.ts'
import { ProxiedRequest } from './proxied-request.ts'

/** Adds the route of a pass-through endpoint. */
export function addPassThroughRoute(
  app: FastifyInstance,
  { method, path, route: given }: ResolvedPassThroughEndpoint,
  plan: PlannedPassThrough,
  isAuthenticated: boolean,
): void {
  // For @fastify/swagger, the type null is a response of an unknown type.
  const success = { type: 'null', description: 'The response of the upstream' }
  const route = isAuthenticated ? withUnauthenticated(given, success) : given
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
