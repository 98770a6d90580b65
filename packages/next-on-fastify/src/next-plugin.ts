import { randomUUID } from 'node:crypto'
import { METHODS } from 'node:http'
import { resolve } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import fp from 'fastify-plugin'
import { loadNext } from './load-next.ts'
import { checkOptions, type NextPluginOptions } from './options.ts'

/** Lets a Next app answer what no route does, in an app that is there. */
type NextPlugin = (app: FastifyInstance, options: NextPluginOptions) => Promise<void>

const plugin: NextPlugin = async (app, options) => {
  checkOptions(options)
  const { dev = process.env['NODE_ENV'] !== 'production', prefix = '', hostname, port } = options
  const dir = resolve(options.dir ?? '.')
  const next = loadNext(dir)({ dir, dev, hostname, port })
  await next.prepare()
  app.addHook('onClose', () => next.close())
  const handle = next.getRequestHandler()

  // Fastify must not read bodies, which are Next's to read. What it does with one is up to its content type, which is
  // therefore taken for another one while Fastify looks: for a type that has a name of its own and a parser that reads
  // nothing. Hooks of the app see the true one again.
  const unread = `application/vnd.next-on-fastify.${randomUUID()}`
  app.addContentTypeParser(unread, (request, _payload, done) => {
    request.headers = {}
    done(null)
  })

  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method) && method !== 'CONNECT') app.addHttpMethod(method)
  }
  const route = {
    method: app.supportedMethods as HTTPMethods[],
    ...(options.logLevel !== undefined && { logLevel: options.logLevel }),
    preParsing: (
      request: FastifyRequest,
      _reply: FastifyReply,
      payload: unknown,
      done: (error: null) => void,
    ): void => {
      void payload
      request.headers = { 'content-type': unread }
      done(null)
    },
    handler: async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) reply.raw.setHeader(name, value)
      }
      reply.hijack()
      await handle(request.raw, reply.raw)
    },
  }
  app.route({ ...route, url: `${prefix}/*` })
  if (prefix !== '') app.route({ ...route, url: prefix })
}

/**
 * Lets a Next app answer what no route of the app answers, as `next start` would, or as `next dev` does.
 *
 * @throws NEXT_ON_FASTIFY_INVALID_OPTION, NEXT_ON_FASTIFY_NEXT_MISSING, NEXT_ON_FASTIFY_NEXT_VERSION
 *
 * @example
 * await app.register(nextPlugin, { dir: './web' })
 */
export const nextPlugin: NextPlugin = fp(plugin, { fastify: '5.x', name: 'next-on-fastify' })
