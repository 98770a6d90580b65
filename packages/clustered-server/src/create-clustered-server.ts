import { Admin } from './observability/admin-server.ts'
import type { ClusteredServer } from './types.ts'
import { ClusteredServerError } from './errors.ts'
import { callHooks } from './hooks.ts'
import { logEvents, warnOfReloads } from './observability/log-events.ts'
import { outliveOutputs } from './platform/lost-outputs.ts'
import { type ClusteredServerOptions, resolveOptions } from './options/options.ts'
import { Primary } from './primary/primary.ts'
import { obeySignals } from './platform/signals.ts'
import { SingleProcess } from './single-process.ts'
import { tellSystemd } from './platform/systemd.ts'
import { isWorker } from './primary/worker-handle.ts'
import { warnOfZombies } from './platform/zombies.ts'

/**
 * Runs an app in as many processes as there are cores, behind one socket. Resolves when all of them take connections.
 *
 * @param app URL of a module whose default export is a function that returns an app of Fastify, Express, NestJS, Koa or
 * Hono, a server of `node:http`, `node:https` or `node:http2`, a request listener, a plugin of Fastify, or a promise of
 * one; or of a module that listens on `process.env.PORT` by itself
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
      'The app starts a clustered server itself, and each worker would start more of them: have the app in a module of its own',
    )
  const { logger, signals } = resolved
  outliveOutputs()
  const admin = resolved.admin && (await Admin.start(resolved.admin))
  const observe = (server: SingleProcess | Primary): void => {
    if (logger) {
      logEvents(server, logger)
      warnOfZombies(server, logger)
    }
    server.admin = admin?.address
    admin?.show(server)
    tellSystemd(server, logger)
    callHooks(server, resolved)
    if (signals) obeySignals(server, logger)
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
