import type { Http2SecureServer, Http2Server } from 'node:http2'
import type { Server } from 'node:https'
import Fastify, {
  type FastifyHttp2Options,
  type FastifyHttp2SecureOptions,
  type FastifyHttpsOptions,
  type FastifyInstance,
} from 'fastify'
import { bareClientError } from './http/client-errors.ts'
import { stopGracefully } from './http/graceful-stop.ts'
import { nextPlugin } from './plugin.ts'
import { checkFactoryOptions, isDev } from './options/resolve.ts'
import type { CreateNextOnFastifyOptions } from './options/types.ts'
import { routableUrl } from './fastify/routable-url.ts'

/** Options with which Fastify uses HTTPS or HTTP/2. */
type OptionsWith<Fastify> = CreateNextOnFastifyOptions<Fastify> & { fastify: Fastify }

/** Next may need more than Fastify's 10 s to start in a busy or throttled container, in milliseconds. */
const START_TIMEOUT = 60_000

/**
 * Creates a Fastify app that serves a Next app for all requests without a matching route: `Fastify()` with
 * {@link nextPlugin}, {@link routableUrl} as `rewriteUrl`, {@link bareClientError} as `clientErrorHandler`, a
 * `pluginTimeout` of 60 seconds, and a graceful stop in production.
 *
 * @param options - the plugin's options, and Fastify's own as `fastify`
 * @throws NEXT_ON_FASTIFY_INVALID_OPTION, NEXT_ON_FASTIFY_NEXT_MISSING, NEXT_ON_FASTIFY_NEXT_VERSION,
 * NEXT_ON_FASTIFY_NO_BUILD, NEXT_ON_FASTIFY_NOT_PREPARED, NEXT_ON_FASTIFY_BASE_PATH, NEXT_ON_FASTIFY_SECOND_APP,
 * NEXT_ON_FASTIFY_CACHE_NOT_SHARED
 *
 * @example
 * const app = await createNextOnFastify({ dir: './web' })
 * app.get('/api/test', async () => ({ message: 'hello' }))
 * await app.listen({ port: 3000 })
 */
export function createNextOnFastify(
  options: OptionsWith<FastifyHttp2SecureOptions<Http2SecureServer>>,
): Promise<FastifyInstance<Http2SecureServer>>
export function createNextOnFastify(
  options: OptionsWith<FastifyHttp2Options<Http2Server>>,
): Promise<FastifyInstance<Http2Server>>
export function createNextOnFastify(options: OptionsWith<FastifyHttpsOptions<Server>>): Promise<FastifyInstance<Server>>
export function createNextOnFastify(options?: CreateNextOnFastifyOptions): Promise<FastifyInstance>
export async function createNextOnFastify(options: CreateNextOnFastifyOptions<object> = {}): Promise<unknown> {
  checkFactoryOptions(options)
  const { fastify = {}, gracefulStop, ...pluginOptions } = options
  const defaults = { rewriteUrl: routableUrl, clientErrorHandler: bareClientError, pluginTimeout: START_TIMEOUT }
  const app = Fastify({ ...defaults, ...fastify })
  if (gracefulStop ?? !isDev(options)) stopGracefully(app, typeof gracefulStop === 'object' ? gracefulStop : {})
  await app.register(nextPlugin, pluginOptions)
  return app
}
