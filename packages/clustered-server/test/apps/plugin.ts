import type { FastifyInstance } from 'fastify'
import { answer } from './faults.ts'

/** As `fastify generate` makes it, for `fastify start`. */
export default async function (fastify: FastifyInstance, _opts: object): Promise<void> {
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', (_request, _payload, done) => done(null))
  fastify.all('/*', (request, reply) => {
    reply.hijack()
    void answer(request.raw, reply.raw)
  })
}
