import { checkPidFile, openControl } from '../control/open-control.ts'
import { errorCodes } from '../errors.ts'
import { isolateListeners } from './isolate-listeners.ts'
import { AdminServer } from '../observability/admin-server.ts'
import { logEvents, logRelease, logStopTimeout, stopTimeoutOf, warnOfReloads } from '../observability/log-events.ts'
import { StatusReport } from '../observability/service-status.ts'
import { resolveOptions } from '../options/resolve-options.ts'
import type { ClusteredServerOptions } from '../options/types.ts'
import { outliveOutputs } from '../platform/lost-outputs.ts'
import { handleSignals } from './signals.ts'
import { notifySystemd } from './systemd-notify.ts'
import { warnOfZombies } from './zombie-warning.ts'
import { Primary } from '../primary/primary.ts'
import { SingleProcess } from './single-process.ts'
import type { ClusteredServer } from '../server-types.ts'
import { isWorker } from '../worker/is-worker.ts'

const LINGERS_NOT =
  'the option "linger" has no effect with one process, which cannot be reloaded: set "workers" to 2 or more'

/**
 * Checks the options and starts the server: see `createClusteredServer()`.
 *
 * @param alone whether an app with one worker runs in this process, where it cannot be reloaded
 */
export async function startServer(
  app: URL | string,
  options: ClusteredServerOptions,
  alone: boolean = true,
): Promise<ClusteredServer> {
  const resolved = resolveOptions(app, options)
  if (isWorker)
    throw new errorCodes.CLUSTERED_SERVER_INSIDE_WORKER(
      'The app calls createClusteredServer(), so that each worker would start more workers: move the app to its own module',
    )
  const { logger, signals } = resolved
  outliveOutputs()
  const pidFile = await checkPidFile(resolved)
  const admin = resolved.admin && (await AdminServer.start(resolved.admin))
  let control: Promise<void> | undefined
  const observe = (server: SingleProcess | Primary): void => {
    isolateListeners(server, logger)
    if (logger) {
      logEvents(server, logger)
      logStopTimeout(server, resolved, logger)
      warnOfZombies(server, logger)
    }
    server.admin = admin?.address
    const report = new StatusReport(server, resolved.name, stopTimeoutOf(resolved))
    admin?.attach(server, report)
    control = openControl(server, report, resolved)
    if (pidFile) server.once('closed', () => pidFile.remove())
    notifySystemd(server, logger)
    if (signals) handleSignals(server, logger)
  }
  if (logger && resolved.workers > 1) warnOfReloads(logger)
  const isSingle = resolved.workers === 1 && alone
  if (resolved.linger && isSingle) logger?.warn({}, LINGERS_NOT)
  try {
    const server = await (isSingle ? SingleProcess : Primary).start(resolved, observe)
    if (logger && resolved.workers > 1) logRelease(resolved, logger)
    await control
    if (pidFile) writeOrKill(pidFile, server)
    // The caller adds its listeners first.
    setImmediate(() => server.status().ready && server.emit('ready'))
    return server
  } catch (error) {
    admin?.close()
    throw error
  }
}

/** A server without the pid file that was asked for does not run on. */
function writeOrKill(pidFile: { write(): void }, server: ClusteredServer): void {
  try {
    pidFile.write()
  } catch (error) {
    server.kill()
    throw error
  }
}
