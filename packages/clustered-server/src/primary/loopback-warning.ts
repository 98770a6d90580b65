import type { ResolvedOptions } from '../options/types.ts'
import type { Listener } from './listener.ts'
import type { WorkerHandle } from './worker-handle.ts'
import type { WorkerPool } from './worker-pool.ts'

const ALL_ADDRESSES = new Set<string | undefined>(['::', '0.0.0.0'])
const LOOPBACK = /^(?:localhost|127\..*|::1)$/

/** Warns once of an app that names a loopback address, while its server listens on all addresses, unless it was told to. */
export function warnOfLoopback(
  pool: WorkerPool,
  { host: given, logger }: ResolvedOptions,
  { host: bound }: Listener,
): void {
  if (!logger || given !== undefined || !ALL_ADDRESSES.has(bound)) return
  let hasWarned = false
  const warn = ({ appHost: host }: WorkerHandle): void => {
    if (hasWarned || host === undefined || !LOOPBACK.test(host)) return
    hasWarned = true
    const text = `the app names the host ${host}, but the server listens on all addresses: set the option "host" to ${host} or ${bound}`
    logger.warn({ host }, text)
  }
  pool.on('start', (worker: WorkerHandle) => {
    worker.loaded.then(() => warn(worker)).catch(() => {})
  })
}
