import { AdminServer } from './observability/admin-server.ts'
import type { ClusteredServer } from './types.ts'
import { ClusteredServerError } from './errors.ts'
import { logEvents, warnOfReloads } from './observability/log-events.ts'
import { outliveOutputs } from './platform/lost-outputs.ts'
import { resolveOptions } from './options/resolve-options.ts'
import type { ClusteredServerOptions } from './options/types.ts'
import { Primary } from './primary/primary.ts'
import { handleSignals } from './platform/signals.ts'
import { SingleProcess } from './single-process.ts'
import { notifySystemd } from './platform/systemd.ts'
import { isWorker } from './primary/worker-channel.ts'
import { warnOfZombies } from './platform/zombies.ts'

/**
 * Runs an app in one process per core, behind one socket. Resolves when all workers accept connections.
 *
 * @param app URL of a module. Its default export is a function that returns, or resolves with, an app of Fastify,
 * Express, NestJS, Koa or Hono, a server of `node:http`, `node:https` or `node:http2`, a request listener or a Fastify
 * plugin. Or the module listens on `process.env.PORT` by itself.
 *
 * @throws {ClusteredServerError} `CLUSTERED_SERVER_INVALID_OPTION`, `CLUSTERED_SERVER_INSIDE_WORKER`,
 * `CLUSTERED_SERVER_CANNOT_LISTEN`, `CLUSTERED_SERVER_INVALID_APP`, `CLUSTERED_SERVER_START_FAILED`,
 * `CLUSTERED_SERVER_CLOSED`
 *
 * @example
 * const server = await createClusteredServer(new URL('./app.ts', import.meta.url), { port: 3000 })
 * console.log(`http://localhost:${server.port}`)
 */
export async function createClusteredServer(
  app: URL | string,
  options: ClusteredServerOptions = {},
): Promise<ClusteredServer> {
  const resolved = resolveOptions(app, options)
  if (isWorker())
    throw new ClusteredServerError(
      'CLUSTERED_SERVER_INSIDE_WORKER',
      'The app calls createClusteredServer(), so that each worker would start more workers: move the app to its own module',
    )
  const { logger, signals } = resolved
  outliveOutputs()
  const admin = resolved.admin && (await AdminServer.start(resolved.admin))
  const observe = (server: SingleProcess | Primary): void => {
    if (logger) {
      logEvents(server, logger)
      warnOfZombies(server, logger)
    }
    server.admin = admin?.address
    admin?.attach(server)
    notifySystemd(server, logger)
    if (signals) handleSignals(server, logger)
  }
  if (logger && resolved.workers > 1) warnOfReloads(logger)
  try {
    const server = await (resolved.workers === 1 ? SingleProcess : Primary).start(resolved, observe)
    server.emit('ready')
    return server
  } catch (error) {
    admin?.close()
    throw error
  }
}
