import type { StatusReport } from '../observability/service-status.ts'
import type { Logger, ResolvedOptions } from '../options/types.ts'
import type { ClusteredServer } from '../server-types.ts'
import { serviceOf } from './control-client.ts'
import { ControlServer } from './control-server.ts'
import { findPrimary } from './find-primary.ts'
import { PidFile } from './pid-file.ts'
import { hasControlSockets } from './runtime-directory.ts'

/**
 * Checks the pid file of a server that is about to start.
 *
 * @throws CLUSTERED_SERVER_PID_FILE
 */
export async function checkPidFile({ pidFile }: ResolvedOptions): Promise<PidFile | undefined> {
  return pidFile === undefined ? undefined : PidFile.check(pidFile, isRunning)
}

/** Makes a server with a name or a pid file controllable by the command. It serves without that too. */
export async function openControl(
  server: ClusteredServer,
  report: StatusReport,
  { name, pidFile, signals, logger }: ResolvedOptions,
): Promise<void> {
  if ((name ?? pidFile) === undefined) return
  const stop = (): void => {
    // As from outside, so that it is logged and ends the process.
    if (signals) process.kill(process.pid, 'SIGTERM')
    else server.close().catch((error: unknown) => logger?.error({ err: error }, 'onShutdown failed'))
  }
  try {
    if (!hasControlSockets) throw new Error(`${process.platform} has no private sockets, use the option "admin"`)
    await ControlServer.open(server, report, stop)
  } catch (error) {
    warn(logger, error as Error)
  }
}

function warn(logger: Logger | undefined, error: Error): void {
  logger?.warn({ err: error }, `commands do not find this service by its name: ${error.message}`)
}

async function isRunning(pid: number): Promise<boolean> {
  const service = await serviceOf(pid).catch(() => undefined)
  if (service) return true
  try {
    return process.platform === 'linux' && findPrimary(pid) === pid
  } catch {
    return false
  }
}
