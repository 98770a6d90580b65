import Fastify, { type FastifyInstance } from 'fastify'

/** What each worker runs. */
export default function app(): FastifyInstance {
  const fastify = Fastify()
  fastify.route({ method: ['GET', 'POST'], url: '/', handler: () => ({ hello: 'world', process: process.pid }) })
  return fastify
}
