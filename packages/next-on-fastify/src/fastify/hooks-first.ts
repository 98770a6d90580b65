// How a request comes to Next: behind all hooks of the app. `onSend` hooks run before Next is asked, with no payload, so that
// plugins add their headers and cookies; the hook of the route is the last of them, and takes the response over.

import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'

const FOR_NEXT: unique symbol = Symbol('next-on-fastify.for-next')

type Request = FastifyRequest & { [FOR_NEXT]?: boolean }

/** What is used of an app. */
interface Decorated {
  hasRequestDecorator(name: string | symbol): boolean
  decorateRequest(name: string | symbol, value: boolean): unknown
}

/** The options of a route whose requests Next is asked, by `ask`, once all hooks have run; it hijacks the reply. */
export function handover(
  app: Decorated,
  check: (request: FastifyRequest) => void,
  ask: (request: FastifyRequest, reply: FastifyReply) => void,
): Required<Pick<RouteOptions, 'handler' | 'onError' | 'onSend'>> {
  if (!app.hasRequestDecorator(FOR_NEXT)) app.decorateRequest(FOR_NEXT, false)
  return {
    handler: (request: Request, reply) => {
      check(request)
      request[FOR_NEXT] = true
      reply.send()
    },
    onSend: (request: Request, reply, payload, done) => {
      // A hook has replied in place of Next.
      if (!request[FOR_NEXT]) return done(null, payload)
      request[FOR_NEXT] = false
      ask(request, reply)
    },
    // Of an `onSend` hook that has failed: its error is sent.
    onError: (request: Request, _reply, _error, done) => {
      request[FOR_NEXT] = false
      done()
    },
  }
}
