import type { FastifyInstance } from 'fastify'

/** Next believes `x-forwarded-*` from everyone. These headers stay only if a trusted proxy has sent the request. */
export function checkForwardedHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw, ips = [] }) => {
    // The address of the connection, and those that a trusted proxy has added.
    if (ips.length > 1) return
    for (const name of Object.keys(raw.headers)) if (name.startsWith('x-forwarded-')) delete raw.headers[name]
  })
}
