import { METHODS } from 'node:http'
import { resolve } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, HTTPMethods, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { demandBasePath } from './base-path.ts'
import { closeRestingConnections } from './closing-connections.ts'
import { keepVary } from './kept-vary.ts'
import { startNext } from './load-next.ts'
import { createMemory } from './memory/create-memory.ts'
import type { NextMemory } from './memory/memory.ts'
import { checkOptions, type NextPluginOptions } from './options.ts'
import { restoreUrl } from './routable-url.ts'
import { demandUnread, leaveBodiesUnread } from './unread-bodies.ts'
import { Upgrades } from './upgrades.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** What is kept of each Next app, by its prefix: apps whose answers are not kept have none. */
    nextMemory: Map<string, NextMemory>
  }
}

/** Lets a Next app answer what no route does, in an app that is there. */
type NextPlugin = (app: FastifyInstance, options: NextPluginOptions) => Promise<void>

/** Not in documents that are made of the routes. */
const HIDDEN: FastifySchema & { hide: boolean } = { hide: true }

const plugin: NextPlugin = async (app, options) => {
  checkOptions(options)
  const { dev = process.env['NODE_ENV'] !== 'production', prefix = '', hostname, port, requestIdHeader } = options
  const dir = resolve(options.dir ?? '.')
  if (prefix !== '' && !dev) demandBasePath(dir, prefix)
  const next = await startNext({ dir, dev, hostname, port })
  // Requests and streams have ended by then: Fastify closes its server first. Next waits for what `after()` was given.
  app.addHook('onClose', () => next.close())
  closeRestingConnections(app)
  const byNext = next.getRequestHandler()
  const memory =
    dev || !options.memory ? undefined : await createMemory(dir, options.memory === true ? {} : options.memory, app.log)
  const answer = memory === undefined ? byNext : memory.answer.bind(memory, byNext)
  if (!app.hasDecorator('nextMemory')) app.decorate('nextMemory', new Map())
  if (memory !== undefined) {
    app.nextMemory.set(prefix, memory)
    app.addHook('onClose', async () => memory.close())
  }
  const upgrades = (options.upgrades ?? dev) && next.upgradeHandler ? Upgrades.of(app) : undefined

  const handler = (request: FastifyRequest, reply: FastifyReply): void => {
    demandUnread(request)
    const { raw } = request
    restoreUrl(raw)
    if (requestIdHeader !== undefined) raw.headers[requestIdHeader] = request.id
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value)
    }
    const vary = reply.raw.getHeader('vary')
    if (vary !== undefined) keepVary(reply.raw, String(vary))
    reply.hijack()
    answer(raw, reply.raw).catch((error: unknown) => {
      // Next answers its own errors: who gets here has sent half of it, or nothing, where `next start` says so.
      request.log.error({ err: error }, 'Next has failed')
      if (reply.raw.headersSent) {
        reply.raw.destroy()
        return
      }
      reply.raw.statusCode = 500
      reply.raw.end('Internal Server Error')
    })
  }

  const route: Omit<RouteOptions, 'url'> = {
    method: everyMethod(app),
    schema: HIDDEN,
    ...(options.logLevel !== undefined && { logLevel: options.logLevel }),
    preParsing: leaveBodiesUnread(app),
    ...(upgrades && {
      preHandler: (request, reply, done): void => {
        if (!upgrades.take(request, reply, next.upgradeHandler!)) done()
      },
    }),
    handler,
  }
  app.route({ ...route, url: `${prefix}/*` })
  if (prefix !== '') app.route({ ...route, url: prefix })
}

/** All methods that Node knows, so that Next answers each. */
function everyMethod(app: FastifyInstance): HTTPMethods[] {
  for (const method of METHODS) {
    // Of CONNECT, servers of Node tell by an event of its own.
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method))
      app.addHttpMethod(method, { hasBody: method === 'QUERY' })
  }
  return [...app.supportedMethods] as HTTPMethods[]
}

/**
 * Lets a Next app answer what no route of the app answers, as `next start` would, or as `next dev` does.
 *
 * @throws NEXT_ON_FASTIFY_INVALID_OPTION, NEXT_ON_FASTIFY_NEXT_MISSING, NEXT_ON_FASTIFY_NEXT_VERSION,
 * NEXT_ON_FASTIFY_NO_BUILD, NEXT_ON_FASTIFY_NOT_PREPARED, NEXT_ON_FASTIFY_BASE_PATH
 *
 * @example
 * await app.register(nextPlugin, { dir: './web' })
 */
export const nextPlugin: NextPlugin = fp(plugin, { fastify: '5.x', name: 'next-on-fastify' })
