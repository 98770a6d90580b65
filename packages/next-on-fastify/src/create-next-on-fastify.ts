import Fastify, { type FastifyInstance } from 'fastify'
import { nextPlugin } from './next-plugin.ts'
import { checkOptions, type CreateNextOnFastifyOptions } from './options.ts'
import { routableUrl } from './routable-url.ts'

/**
 * Makes a Fastify app in which a Next app answers what no route does: `Fastify()` plus {@link nextPlugin}, and
 * {@link routableUrl} unless the options of Fastify have a `rewriteUrl` of their own.
 *
 * @param options - the plugin's options in one object, and Fastify's own as `fastify`
 * @throws NEXT_ON_FASTIFY_INVALID_OPTION, NEXT_ON_FASTIFY_NEXT_MISSING, NEXT_ON_FASTIFY_NEXT_VERSION,
 * NEXT_ON_FASTIFY_NO_BUILD, NEXT_ON_FASTIFY_NOT_PREPARED, NEXT_ON_FASTIFY_BASE_PATH
 *
 * @example
 * const app = await createNextOnFastify({ dir: './web' })
 * app.get('/api/test', async () => ({ message: 'hello' }))
 * await app.listen({ port: 3000 })
 */
export async function createNextOnFastify(options: CreateNextOnFastifyOptions = {}): Promise<FastifyInstance> {
  checkOptions(options, ['fastify'])
  const { fastify = {}, ...pluginOptions } = options
  const app = Fastify({ rewriteUrl: routableUrl, ...fastify })
  await app.register(nextPlugin, pluginOptions)
  return app
}
