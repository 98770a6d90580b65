import Fastify, { type FastifyInstance } from 'fastify'
import { answer } from './faults.ts'

/** An app of Fastify, which is not ready at once. */
export default async function fastify(): Promise<FastifyInstance> {
  const app = Fastify({ forceCloseConnections: false })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.all('/*', (request, reply) => {
    reply.hijack()
    void answer(request.raw, reply.raw)
  })
  return Promise.resolve(app)
}
