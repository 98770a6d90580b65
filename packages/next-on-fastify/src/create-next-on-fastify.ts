import Fastify, { type FastifyInstance } from 'fastify'
import { nextPlugin } from './next-plugin.ts'
import { checkOptions, type CreateNextOnFastifyOptions } from './options.ts'

/**
 * Makes a Fastify app in which a Next app answers what no route does: `Fastify()` plus {@link nextPlugin}.
 *
 * @param options - the plugin's options in one object, and Fastify's own as `fastify`
 * @throws NEXT_ON_FASTIFY_INVALID_OPTION, NEXT_ON_FASTIFY_NEXT_MISSING, NEXT_ON_FASTIFY_NEXT_VERSION
 *
 * @example
 * const app = await createNextOnFastify({ dir: './web' })
 * app.get('/api/test', async () => ({ message: 'hello' }))
 * await app.listen({ port: 3000 })
 */
export async function createNextOnFastify(options: CreateNextOnFastifyOptions = {}): Promise<FastifyInstance> {
  checkOptions(options, ['fastify'])
  const { fastify = {}, ...pluginOptions } = options
  const app = Fastify(fastify)
  await app.register(nextPlugin, pluginOptions)
  return app
}
