// Runs all hooks of the app before Next. `onSend` hooks run without a payload, so that plugins add their headers and
// cookies. The `onSend` hook of the route is the last one, and takes over the response.

import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'

const FOR_NEXT: unique symbol = Symbol('next-on-fastify.for-next')

type Request = FastifyRequest & { [FOR_NEXT]?: boolean }

/** The used parts of an app. */
interface Decorated {
  hasRequestDecorator(name: string | symbol): boolean
  decorateRequest(name: string | symbol, value: boolean): unknown
}

/** Options of a route that calls `serve` once all hooks have run. `serve` must hijack the reply. */
export function afterAllHooks(
  app: Decorated,
  check: (request: FastifyRequest) => void,
  serve: (request: FastifyRequest, reply: FastifyReply) => void,
): Required<Pick<RouteOptions, 'handler' | 'onError' | 'onSend'>> {
  if (!app.hasRequestDecorator(FOR_NEXT)) app.decorateRequest(FOR_NEXT, false)
  return {
    handler: (request: Request, reply) => {
      check(request)
      request[FOR_NEXT] = true
      reply.send()
    },
    onSend: (request: Request, reply, payload, done) => {
      // A hook has replied instead of Next.
      if (!request[FOR_NEXT]) return done(null, payload)
      request[FOR_NEXT] = false
      serve(request, reply)
    },
    // An `onSend` hook has failed: Fastify sends its error.
    onError: (request: Request, _reply, _error, done) => {
      request[FOR_NEXT] = false
      done()
    },
  }
}
