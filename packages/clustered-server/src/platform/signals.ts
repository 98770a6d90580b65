import type { ClusteredServer } from '../types.ts'
import { ClusteredServerError } from '../errors.ts'
import type { Logger } from '../options/options.ts'

/**
 * Exit code of a process that was told twice to end, and did so with requests that were under way, or whose workers
 * have all died.
 */
const FAILED = 1

/** Has signals do what they do to servers elsewhere: see the option `signals`. */
export function obeySignals(server: ClusteredServer, logger: Logger | undefined): void {
  let isAsked = false
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    logger?.info({ signal }, isAsked ? `${signal} again: ends at once` : `${signal}: ends`)
    if (isAsked) {
      server.kill()
      process.exit(FAILED)
    }
    isAsked = true
    try {
      await server.close()
    } catch (error) {
      // Of `onShutdown`: it may have lost what it was to keep.
      logger?.error({ err: error }, 'onShutdown failed')
      process.exit(FAILED)
    }
    process.exit()
  }
  const count = (): number => server.status().workers.filter(({ state }) => state === 'active').length
  const obey = async (signal: NodeJS.Signals, work: () => Promise<void>): Promise<void> => {
    logger?.info({ signal }, signal)
    try {
      await work()
    } catch (error) {
      // It was logged as the event that it is.
      if (error instanceof ClusteredServerError && error.code === 'CLUSTERED_SERVER_RELOAD_FAILED') return
      // Nobody waits for a signal's end, and the workers that there are go on.
      logger?.error({ err: error, signal }, `${signal} came to nothing: ${(error as Error).message}`)
    }
  }
  const handlers: Partial<Record<NodeJS.Signals, (signal: NodeJS.Signals) => Promise<void>>> = {
    SIGTERM: end,
    SIGINT: end,
    SIGHUP: merged((signal) => obey(signal, () => server.reload())),
    SIGTTIN: (signal) => obey(signal, () => server.scale(count() + 1)),
    SIGTTOU: (signal) => obey(signal, () => server.scale(Math.max(1, count() - 1))),
    // Its default is to end the process, and some habits of other process managers send it.
    SIGUSR2: async (signal) => {
      if (process.listenerCount(signal) === 1) logger?.warn({ signal }, 'SIGUSR2 is ignored: send SIGHUP to reload')
    },
  }
  for (const [signal, handler] of Object.entries(handlers)) process.on(signal, handler)
  let isLoop = false
  let closes = false
  server.on('crashLoop', () => (isLoop = true))
  server.on('reloaded', () => (isLoop = false))
  server.on('closing', () => (closes = true))
  server.once('closed', () => {
    // Whoever runs this process is to know that it did not end as asked.
    if (isLoop && !closes) process.exitCode = FAILED
    for (const [signal, handler] of Object.entries(handlers)) process.off(signal, handler)
  })
}

/** Has signals that come while one is obeyed be obeyed together, after it. */
function merged(obey: (signal: NodeJS.Signals) => Promise<void>): (signal: NodeJS.Signals) => Promise<void> {
  let isRunning = false
  let isAsked = false
  return async (signal) => {
    isAsked = true
    if (isRunning) return
    isRunning = true
    while (isAsked) {
      isAsked = false
      await obey(signal)
    }
    isRunning = false
  }
}
