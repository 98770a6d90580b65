import type { StartMessage } from '../ipc/messages.ts'
import type { SharedStats } from '../ipc/shared-stats.ts'
import type { ReportSetup } from '../options/types.ts'

/**
 * Purpose of a worker: to stand by, to accept connections (now or once it is loaded), to serve
 * only requests for its older build, or to end.
 */
export type WorkerRole = 'standby' | 'assigned' | 'lingering' | 'retiring'

/** Setup of a worker. */
export interface WorkerSetup extends Pick<
  StartMessage,
  'app' | 'host' | 'port' | 'path' | 'readyPath' | 'drainTimeout' | 'sticky' | 'buildSocket' | 'hasMetrics'
> {
  readonly id: number
  readonly generation: number
  /** The listening socket in this process. */
  readonly fd: number | undefined
  readonly startTimeout: number
  readonly blockedLoopReport: ReportSetup | undefined
  /** Module that the process runs, which loads the app. */
  readonly entry: URL
  readonly cwd: string
  readonly execArgv: readonly string[]
  /** Arguments for the app. */
  readonly args: readonly string[]
  /** Prefix for each line of output. */
  readonly outputPrefix: string | undefined
  readonly env: NodeJS.ProcessEnv
  /** File for statistics. Without it, the worker sends them as messages. */
  readonly sharedStats: SharedStats | undefined
}
