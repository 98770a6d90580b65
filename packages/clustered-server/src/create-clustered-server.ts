import type { ClusteredServerOptions } from './options/types.ts'
import type { ClusteredServer } from './server-types.ts'

/**
 * Runs an app in one process per core, behind one socket. Resolves when all workers accept connections.
 *
 * @param app file URL or absolute path of a module. A reload resolves the symbolic links that lead to it. Its default export is a function that returns, or resolves with, an app of Fastify,
 * Express, NestJS, Koa or Hono, a server of `node:http`, `node:https` or `node:http2`, a request listener or a Fastify
 * plugin. Or the module listens on `process.env.PORT` by itself.
 *
 * @throws CLUSTERED_SERVER_INVALID_OPTION, CLUSTERED_SERVER_INSIDE_WORKER,
 * CLUSTERED_SERVER_CANNOT_LISTEN, CLUSTERED_SERVER_INVALID_APP, CLUSTERED_SERVER_START_FAILED,
 * CLUSTERED_SERVER_CLOSED
 *
 * @example
 * const server = await createClusteredServer(new URL('./app.ts', import.meta.url), { port: 3000 })
 * console.log(`http://localhost:${server.port}`)
 */
export async function createClusteredServer(
  app: URL | string,
  options: ClusteredServerOptions = {},
): Promise<ClusteredServer> {
  // Loaded on demand: workers import this package for `runOnOneWorker()`, and need nothing of the server.
  const { startServer } = await import('./server/start-server.ts')
  return startServer(app, options)
}
