// Routes of the app that Next serves, with options and a handler of their own.

import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HTTPMethods,
  RouteGenericInterface,
  RouteOptions,
} from 'fastify'
import { invalidOption } from 'checked-options'
import { InvalidOptionError } from '../errors.ts'
import type { afterAllHooks } from './hooks-first.ts'
import { serveOtherPath } from './other-path.ts'

/** Options of a route of `app.next()`: those of a Fastify route. */
export interface NextRouteOptions extends Omit<RouteOptions, 'handler' | 'method' | 'url'> {
  /** Methods that the route serves. @default all methods */
  method?: HTTPMethods | HTTPMethods[]
}

/**
 * Handler of a route of `app.next()`, which runs before Next. It may return the path that Next serves instead, or send a
 * reply itself.
 */
export type NextRouteHandler<Route extends RouteGenericInterface = RouteGenericInterface> = (
  this: FastifyInstance,
  request: FastifyRequest<Route>,
  reply: FastifyReply,
) => string | FastifyReply | undefined | void | Promise<string | FastifyReply | undefined | void>

/**
 * `app.next()`: adds a route to the instance that it is called on.
 *
 * @throws NEXT_ON_FASTIFY_INVALID_OPTION
 */
export type AddNextRoute = <Route extends RouteGenericInterface = RouteGenericInterface>(
  this: FastifyInstance,
  url: string,
  options?: NextRouteOptions | NextRouteHandler<Route>,
  handler?: NextRouteHandler<Route>,
) => FastifyInstance

type Taken = ReturnType<typeof afterAllHooks> &
  Required<Pick<RouteOptions, 'preHandler' | 'preParsing'>> &
  Pick<RouteOptions, 'logLevel' | 'logSerializers'>

/**
 * Returns `app.next()`.
 *
 * @param taken - the options by which Next takes the requests of a route
 * @param prefix - the base path of the Next app
 */
export function nextRoutes(taken: Taken, methods: HTTPMethods[], prefix: string): AddNextRoute {
  return function addNextRoute(url, options = {}, handler): FastifyInstance {
    if (typeof options === 'function') return addNextRoute.call(this, url, {}, options as NextRouteHandler)
    assertArguments(url, options, handler)
    const own = handler as NextRouteHandler | undefined
    return this.route({
      method: methods,
      ...taken,
      ...options,
      url,
      preParsing: [taken.preParsing, options.preParsing ?? []].flat(),
      preHandler: [options.preHandler ?? [], taken.preHandler].flat(),
      onSend: [options.onSend ?? [], taken.onSend].flat(),
      onError: [taken.onError, options.onError ?? []].flat(),
      handler: own === undefined ? taken.handler : withHandler(own, taken.handler, prefix),
    })
  }
}

/** Runs the handler of the app before the one that calls Next. */
function withHandler(
  handler: NextRouteHandler,
  callNext: RouteOptions['handler'],
  prefix: string,
): RouteOptions['handler'] {
  return async function (request, reply) {
    // A returned reply is awaited until it is sent.
    const path = await handler.call(this, request, reply)
    if (reply.sent) return reply
    if (path !== undefined) serveOtherPath(request, reply, path, prefix)
    await callNext.call(this, request, reply)
    return reply
  }
}

function assertArguments(url: unknown, options: unknown, handler: unknown): void {
  if (typeof url !== 'string' || (url !== '' && !url.startsWith('/'))) {
    throw new InvalidOptionError(invalidOption('url', 'a path with a leading slash', url))
  }
  if (typeof options !== 'object' || options === null) {
    throw new InvalidOptionError(invalidOption('options', 'an object', options))
  }
  if (handler !== undefined && typeof handler !== 'function') {
    throw new InvalidOptionError(invalidOption('handler', 'a function', handler))
  }
}
