import type { FastifyInstance } from 'fastify'

/** A plugin that nothing tells from a request listener. */
export default async function (a: FastifyInstance, _b: object): Promise<void> {
  a.get('/', () => 'hello')
}
