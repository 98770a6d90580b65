import type { FastifyInstance } from 'fastify'
import { createNextOnFastify } from 'next-on-fastify'
import { dir, host, port } from './app.ts'

/** The app of `next-on-fastify.ts`, and of each worker of `../clustered-server/next-on-fastify.ts`. */
export default async function nextOnFastifyApp(): Promise<FastifyInstance> {
  const { NEXT_DIRECT, NEXT_HTTP2 } = process.env
  // Types of Fastify tell apps of the two protocols apart, and this one may be either.
  const fastify = { return503OnClosing: false, ...(NEXT_HTTP2 === 'yes' && { http2: true }) }
  const app = await createNextOnFastify({
    dir,
    dev: false,
    hostname: host,
    port,
    memory: { proxyMemory: 'after-proxy' },
    // What is handed to its route without Next's router server.
    direct: NEXT_DIRECT === 'api' || NEXT_DIRECT === 'all' ? NEXT_DIRECT : false,
    fastify,
  })
  app.get('/fastify/message', () => ({ message: 'hello' }))
  // In place of the one of Next in `web/pages/api`.
  if (process.env.API === 'fastify') app.get('/api/message', () => ({ message: 'hello' }))
  /** What came from memory, and why the rest did not. */
  app.get('/fastify/memory', () => app.nextMemory.get('')?.counts ?? {})
  /** What went without the router server, and why the rest did not. */
  app.get('/fastify/direct', () => app.nextDirect.get('')?.counts ?? {})
  return app
}
