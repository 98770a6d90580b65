import type { FastifyInstance } from 'fastify'

/** Interval between two checks, in ms. */
const CHECK_INTERVAL = 100

/**
 * Closes connections that become idle while the app closes. Node closes only connections that are idle when the server
 * starts to close. Others would stay open for more than a minute after their response.
 */
export function closeIdleConnections(app: FastifyInstance): void {
  let timer: NodeJS.Timeout | undefined
  app.addHook('preClose', async () => {
    // Pure HTTP/2 servers don't have this method: Fastify closes their sessions.
    timer = setInterval(() => app.server.closeIdleConnections?.(), CHECK_INTERVAL).unref()
  })
  // The server is closed by then.
  app.addHook('onClose', async () => clearInterval(timer))
}
