import Fastify, { type FastifyInstance } from 'fastify'
import { fastifyWriteBatching } from 'fastify-write-batching'

/** End of each response of {@link createApp}. */
export const END = 'Hello World!'

/** An app with the plugin, which serves a text at `/`. */
export async function createApp(): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(fastifyWriteBatching)
  app.get('/', (_request, reply) => {
    reply.send(END)
  })
  return app
}
