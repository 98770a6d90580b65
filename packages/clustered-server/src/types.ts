import type { EventEmitter } from 'node:events'
import type { ClusteredServerError } from './errors.ts'
import type { HookName } from './hooks.ts'
import type { WorkerFigures } from './ipc/messages.ts'
import type { RecycleReason } from './primary/recycling.ts'
import type { StuckReport } from './worker/blocked-loop-report.ts'
import type { WorkerExit, WorkerState } from './primary/worker-handle.ts'

/** Which worker an event is about. */
export interface WorkerName {
  /** Counts up from 1, over all workers that there ever were. */
  readonly id: number
  readonly pid: number | undefined
  /** Counts up from 1 with each reload. */
  readonly generation: number
}

/** A worker, and what it last said of itself. */
export interface WorkerStatus extends WorkerName, WorkerFigures {
  readonly state: WorkerState
  /** Milliseconds since the epoch. */
  readonly startedAt: number
}

/** What there is at the moment. */
export interface ClusterStatus {
  /** Whether new connections are taken, and will be: no longer from the word to end on. */
  readonly ready: boolean
  /** Counts up from 1 with each reload. */
  readonly generation: number
  /** None when the app runs in this process. */
  readonly workers: readonly WorkerStatus[]
}

/** Where probes, the status and metrics are asked for: see the option `admin`. */
export interface AdminAddress {
  readonly host: string
  readonly port: number
  /** That of the agent checks of HAProxy. */
  readonly agentPort: number | undefined
}

/** What a clustered server tells of. */
export interface ClusteredServerEvents {
  /** All workers take connections, for the first time. */
  ready: []
  /** A process was started. */
  workerStart: [WorkerName]
  /** A worker takes connections. */
  workerReady: [WorkerName]
  /** A process has ended; `expected` when it was told to, `failure` says why it did not start. */
  workerExit: [WorkerName & WorkerExit & { readonly expected: boolean; readonly failure: string | undefined }]
  /** The event loop of a worker has stood still for `heartbeatTimeout`: it is killed. */
  workerStuck: [WorkerName]
  /** What is asked for by the option `stuckReport` was written; else `failure` says why not. */
  stuckReport: [WorkerName & StuckReport]
  /** A worker has reached a limit of `recycle` and is being replaced; `reason` says which limit. */
  recycle: [WorkerName & { readonly reason: RecycleReason }]
  /** So many workers in a row have died soon after their start: no more are started until a reload. */
  crashLoop: [{ readonly deaths: number; readonly workers: number }]
  /** New workers are being started. */
  reload: [{ readonly generation: number }]
  /** New workers have taken over. */
  reloaded: [{ readonly generation: number }]
  /** The new workers do not start: the old ones go on. */
  reloadFailed: [{ readonly generation: number; readonly error: ClusteredServerError }]
  /** A process, `pid`, had no free descriptor for a connection that was handed over to it: the connection is closed. */
  connectionLost: [{ readonly pid: number | undefined }]
  /** A hook has thrown or rejected, and the server goes on: `hook` says which, `error` with what. */
  hookFailed: [{ readonly hook: HookName; readonly error: unknown }]
  /** It was told to end: after `shutdownDelay` no new connections are taken. */
  closing: []
  /** All have ended. */
  closed: []
}

/** A server that runs in several processes, or in this one. */
export interface ClusteredServer extends EventEmitter<ClusteredServerEvents> {
  /** The port, also when it was 0; 0 for a UNIX socket. */
  readonly port: number
  /** The address; empty for a UNIX socket. */
  readonly host: string
  /** The path of a UNIX socket; `undefined` for a port. */
  readonly path: string | undefined
  /** None without the option `admin`. */
  readonly admin: AdminAddress | undefined
  status: () => ClusterStatus
  /**
   * Replaces the workers one by one by new ones with the code and environment of now. Connections that rest go to the
   * new ones; no request is lost. Resolves when the new ones have taken over.
   *
   * @throws {ClusteredServerError} `CLUSTERED_SERVER_RELOAD_FAILED` when the new version does not start: the old one
   * goes on; `CLUSTERED_SERVER_SINGLE_PROCESS`, `CLUSTERED_SERVER_CLOSED`
   */
  reload: () => Promise<void>
  /**
   * Has as many workers as that.
   *
   * @throws {ClusteredServerError} `CLUSTERED_SERVER_INVALID_OPTION`, `CLUSTERED_SERVER_SINGLE_PROCESS`,
   * `CLUSTERED_SERVER_CLOSED`, `CLUSTERED_SERVER_START_FAILED`
   */
  scale: (workers: number) => Promise<void>
  /**
   * Takes no new connections after `shutdownDelay`, lets requests end, closes the apps, and resolves when all processes
   * have ended and `onShutdown` is done.
   */
  close: () => Promise<void>
  /** Ends all at once, whatever they do. */
  kill: () => void
}
