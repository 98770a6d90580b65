import { errorCodes } from './errors.ts'
import { isolateListeners } from './isolate-listeners.ts'
import { AdminServer } from './observability/admin-server.ts'
import { logEvents, logRelease, logStopTimeout, warnOfReloads } from './observability/log-events.ts'
import { resolveOptions } from './options/resolve-options.ts'
import type { ClusteredServerOptions } from './options/types.ts'
import { outliveOutputs } from './platform/lost-outputs.ts'
import { handleSignals } from './platform/signals.ts'
import { notifySystemd } from './platform/systemd.ts'
import { warnOfZombies } from './platform/zombies.ts'
import { Primary } from './primary/primary.ts'
import { SingleProcess } from './single-process.ts'
import type { ClusteredServer } from './server-types.ts'
import { isWorker } from './worker/is-worker.ts'

/** Checks the options and starts the server: see `createClusteredServer()`. */
export async function startServer(app: URL | string, options: ClusteredServerOptions): Promise<ClusteredServer> {
  const resolved = resolveOptions(app, options)
  if (isWorker)
    throw new errorCodes.CLUSTERED_SERVER_INSIDE_WORKER(
      'The app calls createClusteredServer(), so that each worker would start more workers: move the app to its own module',
    )
  const { logger, signals } = resolved
  outliveOutputs()
  const admin = resolved.admin && (await AdminServer.start(resolved.admin))
  const observe = (server: SingleProcess | Primary): void => {
    isolateListeners(server, logger)
    if (logger) {
      logEvents(server, logger)
      logStopTimeout(server, resolved, logger)
      warnOfZombies(server, logger)
    }
    server.admin = admin?.address
    admin?.attach(server)
    notifySystemd(server, logger)
    if (signals) handleSignals(server, logger)
  }
  if (logger && resolved.workers > 1) {
    warnOfReloads(logger)
    logRelease(resolved, logger)
  }
  try {
    const server = await (resolved.workers === 1 ? SingleProcess : Primary).start(resolved, observe)
    // The caller adds its listeners first.
    setImmediate(() => server.status().ready && server.emit('ready'))
    return server
  } catch (error) {
    admin?.close()
    throw error
  }
}
