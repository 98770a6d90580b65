import type { FastifyInstance } from 'fastify'
import { createNextOnFastify } from 'next-on-fastify'
import { dir, host, port } from './app.ts'

/** The app of `next-on-fastify.ts`, and of each worker of `../clustered-server/next-on-fastify.ts`. */
export default async function nextOnFastifyApp(): Promise<FastifyInstance> {
  const { NEXT_BYPASS_ROUTER: bypass, NEXT_HTTP2 } = process.env
  // Fastify's types distinguish apps of the two protocols. This app may use either.
  const fastify = { return503OnClosing: false, ...(NEXT_HTTP2 === 'yes' && { http2: true }) }
  const app = await createNextOnFastify({
    dir,
    dev: false,
    hostname: host,
    port,
    bypassRouter: bypass === 'handlers' || bypass === 'all' ? bypass : false,
    fastify,
  })
  app.get('/fastify/message', () => ({ message: 'hello' }))
  // Replaces the API route in `web/pages/api`.
  if (process.env.API === 'fastify') app.get('/api/message', () => ({ message: 'hello' }))
  /** Statistics of the response cache and of the router bypass. */
  app.get('/fastify/stats', () => app.nextStats() ?? {})
  return app
}
