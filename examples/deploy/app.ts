import Fastify, { type FastifyInstance } from 'fastify'

/** The app of each worker. */
export default function app(): FastifyInstance {
  const fastify = Fastify()
  fastify.route({ method: ['GET', 'POST'], url: '/', handler: () => ({ hello: 'world', process: process.pid }) })
  return fastify
}
