import type { FastifyInstance } from 'fastify'

/** Next believes these headers from everyone. Without a proxy that sets them, they are those of a client. */
export function trustOnly(app: FastifyInstance, proxies: string | undefined): void {
  if (proxies !== undefined) return
  app.addHook('onRequest', async ({ raw }) => {
    for (const name of Object.keys(raw.headers)) if (name.startsWith('x-forwarded-')) delete raw.headers[name]
  })
}
