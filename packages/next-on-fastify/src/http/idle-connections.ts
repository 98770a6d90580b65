import type { FastifyInstance } from 'fastify'

/** Milliseconds between two looks. */
const LOOK_EVERY = 100

/**
 * Closes connections that come to rest while the app closes. Node closes those that rest when a server is told to close,
 * and lets those go on whose answer streams just then: they would be kept alive for more than a minute after it.
 */
export function closeRestingConnections(app: FastifyInstance): void {
  let looking: NodeJS.Timeout | undefined
  app.addHook('preClose', async () => {
    // Servers of HTTP/2 alone have none: Fastify tells their sessions to end.
    looking = setInterval(() => app.server.closeIdleConnections?.(), LOOK_EVERY).unref()
  })
  // The server has closed by then.
  app.addHook('onClose', async () => clearInterval(looking))
}
