import { METHODS } from 'node:http'
import { resolve } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, HTTPMethods, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { Answer, Handle } from './next/handler.ts'
import { whileAsked } from './async-context/current-request.ts'
import { demandBasePath } from './next/base-path.ts'
import { shareCache, type ShareOfCache } from './shared-cache/open-shared-cache.ts'
import { closeRestingConnections } from './http/idle-connections.ts'
import { createDirect, type NextDirect } from './router-bypass/router-bypass.ts'
import { inHttp1 } from './http/http2.ts'
import { handover } from './fastify/hooks-first.ts'
import { keepHeaders } from './http/merge-headers.ts'
import { addRoutesLast } from './fastify/last-routes.ts'
import { startNext } from './next/load.ts'
import { createMemory } from './response-cache/create-response-cache.ts'
import type { NextMemory } from './response-cache/response-cache.ts'
import { Observers } from './observability/observers.ts'
import { checkOptions, isDev, type NextPluginOptions } from './options.ts'
import { restoreUrl } from './fastify/routable-url.ts'
import { demandUnread, leaveBodiesUnread } from './fastify/unread-bodies.ts'
import { Upgrades } from './http/upgrades.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** What is kept of each Next app, by its prefix: apps whose answers are not kept have none. */
    nextMemory: Map<string, NextMemory>
    /** The way past Next's router server of each Next app, by its prefix: apps that are not reached so have none. */
    nextDirect: Map<string, NextDirect>
  }
}

/** Lets a Next app answer what no route does, in an app that is there. */
type NextPlugin = (app: FastifyInstance, options: NextPluginOptions) => Promise<void>

/** Not in documents that are made of the routes. */
const HIDDEN: FastifySchema & { hide: boolean } = { hide: true }

const plugin: NextPlugin = async (app, options) => {
  checkOptions(options)
  const dev = isDev(options)
  const { prefix = '', hostname, port, requestIdHeader } = options
  const { cache = 'process' } = options
  const dir = resolve(options.dir ?? '.')
  if (prefix !== '' && !dev) demandBasePath(dir, prefix)
  const { next, close } = await startNext({ dir, dev, hostname, port })
  let shared: ShareOfCache | undefined
  try {
    if (!dev && cache !== 'process') shared = await shareCache(dir, cache === 'machine' ? {} : cache, app.log)
  } catch (error) {
    await close()
    throw error
  }
  // After Next, which uses it until then: of these hooks the last one runs first.
  app.addHook('onClose', async () => shared?.close())
  // Requests and streams have ended by then: Fastify closes its server first. Next waits for what `after()` was given.
  app.addHook('onClose', close)
  closeRestingConnections(app)
  const limits = options.memory === true ? {} : options.memory
  const memory = dev || !limits ? undefined : await createMemory(dir, limits, app.log, shared !== undefined)
  const observers = new Observers(options.observers ?? [], app.log, { prefix, memory })
  app.addHook('onClose', async () => observers.closed())
  const handle = next.getRequestHandler()
  const asked = (answer: Handle): Answer => {
    return whileAsked(observers.watched(shared?.afterOlderPages(answer) ?? answer))
  }
  const byNext = asked(handle)
  const kept = memory === undefined ? byNext : memory.answer.bind(memory, byNext)
  // It comes first, for it takes nothing that the memory keeps: pages that are rendered at build are none of its own.
  const direct = dev || !options.direct ? undefined : await createDirect(dir, next, options.direct, asked, app.log)
  const first = direct === undefined ? kept : direct.answer.bind(direct, kept)
  const answer = shared?.upToDate(first, byNext) ?? first
  if (!app.hasDecorator('nextMemory')) app.decorate('nextMemory', new Map())
  if (memory !== undefined) {
    app.nextMemory.set(prefix, memory)
    app.addHook('onClose', async () => memory.close())
  }
  if (!app.hasDecorator('nextDirect')) app.decorate('nextDirect', new Map())
  if (direct !== undefined) app.nextDirect.set(prefix, direct)
  const upgrades = (options.upgrades ?? dev) && next.upgradeHandler ? Upgrades.of(app) : undefined

  const ask = (request: FastifyRequest, reply: FastifyReply): void => {
    const { raw } = request
    restoreUrl(raw)
    if (requestIdHeader !== undefined) raw.headers[requestIdHeader] = request.id
    const { request: message, response } = inHttp1(raw, reply.raw)
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) response.setHeader(name, value)
    }
    keepHeaders(response)
    reply.hijack()
    answer(message, response, request).catch((error: unknown) => {
      // Next answers its own errors: who gets here has sent half of it, or nothing, where `next start` says so.
      request.log.error({ err: error }, 'Next has failed')
      if (response.headersSent) {
        response.destroy()
        return
      }
      response.statusCode = 500
      response.end('Internal Server Error')
    })
  }

  const route: Omit<RouteOptions, 'method' | 'url'> = {
    schema: HIDDEN,
    ...(options.logLevel !== undefined && { logLevel: options.logLevel }),
    preParsing: leaveBodiesUnread(app),
    ...(upgrades && {
      preHandler: (request, reply, done): void => {
        if (!upgrades.take(request, reply, next.upgradeHandler!)) done()
      },
    }),
    ...handover(app, demandUnread, ask),
  }
  const methods = everyMethod(app)
  addRoutesLast(app, (isLast) => {
    const url = `${prefix}/*`
    const others = methods.filter((method) => method !== 'OPTIONS')
    app.route({ ...route, method: others, url })
    if (!hasOptions(app, url)) {
      app.route({ ...route, method: ['OPTIONS'], url, ...(!isLast && { constraints: ANY_HOST }) })
    }
    if (prefix !== '') app.route({ ...route, method: methods, url: prefix })
  })
  observers.opened()
}

/** Lets a plugin that follows have a route for the same method and path: its hooks run over Next's. */
const ANY_HOST = { host: /(?:)/ }

/** All methods that Node knows, so that Next answers each. */
function everyMethod(app: FastifyInstance): HTTPMethods[] {
  for (const method of METHODS) {
    // Of CONNECT, servers of Node tell by an event of its own.
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method))
      app.addHttpMethod(method, { hasBody: method === 'QUERY' })
  }
  return [...app.supportedMethods] as HTTPMethods[]
}

/** Whether another plugin has OPTIONS for the same paths, as @fastify/cors does. */
function hasOptions(app: FastifyInstance, path: string): boolean {
  return [path, path.slice(1)].some((url) => app.hasRoute({ method: 'OPTIONS', url: app.prefix + url }))
}

/**
 * Lets a Next app answer what no route of the app answers, as `next start` would, or as `next dev` does.
 *
 * @throws NEXT_ON_FASTIFY_INVALID_OPTION, NEXT_ON_FASTIFY_NEXT_MISSING, NEXT_ON_FASTIFY_NEXT_VERSION,
 * NEXT_ON_FASTIFY_NO_BUILD, NEXT_ON_FASTIFY_NOT_PREPARED, NEXT_ON_FASTIFY_BASE_PATH, NEXT_ON_FASTIFY_SECOND_APP,
 * NEXT_ON_FASTIFY_CACHE_NOT_SHARED
 *
 * @example
 * await app.register(nextPlugin, { dir: './web' })
 */
export const nextPlugin: NextPlugin = fp(plugin, { fastify: '5.x', name: 'next-on-fastify' })
