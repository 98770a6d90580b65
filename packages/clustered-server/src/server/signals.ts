import { MergedReloads } from '../control/merged-reloads.ts'
import { ClusteredServerError } from '../errors.ts'
import type { Logger } from '../options/types.ts'
import type { ClusteredServer } from '../server-types.ts'

/** Exit code after a second stop signal, a failed `onShutdown`, or the death of all workers. */
const FAILED = 1

type Handlers = Partial<Record<NodeJS.Signals, (signal: NodeJS.Signals) => Promise<void>>>

/** Handles the signals of the option `signals`. */
export function handleSignals(server: ClusteredServer, logger: Logger | undefined): void {
  const handlers: Handlers = {
    ...stopHandlers(server, logger),
    ...workerHandlers(server, logger),
    // Ignored: its default ends the process, and other process managers use it to reload.
    SIGUSR2: async (signal) => {
      if (process.listenerCount(signal) === 1) logger?.warn({ signal }, 'SIGUSR2 is ignored: send SIGHUP to reload')
    },
  }
  for (const [signal, handler] of Object.entries(handlers)) process.on(signal, handler)
  server.once('closed', () => {
    for (const [signal, handler] of Object.entries(handlers)) process.off(signal, handler)
  })
  failAfterCrashLoop(server)
}

/** SIGTERM and SIGINT shut down; a second one kills. */
function stopHandlers(server: ClusteredServer, logger: Logger | undefined): Handlers {
  let isStopping = false
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    logger?.info({ signal }, isStopping ? `${signal} again: killing all workers` : `${signal}: shutting down`)
    if (isStopping) {
      server.kill()
      process.exit(FAILED)
    }
    isStopping = true
    try {
      await server.close()
    } catch (error) {
      logger?.error({ err: error }, 'onShutdown failed')
      process.exit(FAILED)
    }
    process.exit()
  }
  return { SIGTERM: stop, SIGINT: stop }
}

/** SIGHUP reloads; SIGTTIN and SIGTTOU add and remove a worker. */
function workerHandlers(server: ClusteredServer, logger: Logger | undefined): Handlers {
  const size = (): number => server.status().size
  const run = async (signal: NodeJS.Signals, work: () => Promise<void>): Promise<void> => {
    logger?.info({ signal }, signal)
    try {
      await work()
    } catch (error) {
      // The event `reloadFailed` is logged already.
      if (error instanceof ClusteredServerError && error.code === 'CLUSTERED_SERVER_RELOAD_FAILED') return
      logger?.error({ err: error, signal }, `${signal} failed: ${(error as Error).message}`)
    }
  }
  const reloads = new MergedReloads(() => run('SIGHUP', () => server.reload()))
  return {
    SIGHUP: () => reloads.run(),
    SIGTTIN: (signal) => run(signal, () => server.scale(size() + 1)),
    SIGTTOU: (signal) => run(signal, () => server.scale(Math.max(1, size() - 1))),
  }
}

/** Sets the exit code when the server closes because of a crash loop. */
function failAfterCrashLoop(server: ClusteredServer): void {
  let isLoop = false
  let isClosing = false
  server.on('crashLoop', () => (isLoop = true))
  server.on('reloaded', () => (isLoop = false))
  server.on('closing', () => (isClosing = true))
  server.once('closed', () => {
    if (isLoop && !isClosing) process.exitCode = FAILED
  })
}
