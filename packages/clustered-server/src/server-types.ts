import type { EventEmitter } from 'node:events'
import type { ClusteredServerError } from './errors.ts'
import type { RecycleReason } from './options/types.ts'
import type { ReleaseVersion } from './releases/release-version.ts'

/**
 * State of a worker: it loads the app, is loaded as the standby worker, accepts connections, serves only requests for its
 * older build, has stopped accepting connections, or has ended.
 */
export type WorkerState = 'starting' | 'standby' | 'active' | 'lingering' | 'retiring' | 'ended'

/** How a process ended: by itself with an exit code, or by a signal. */
export interface WorkerExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Identifies a worker in events. */
export interface WorkerName {
  /** Counts up from 1, over all workers of the server. */
  readonly id: number
  readonly pid: number | undefined
  /** Counts up from 1 with each reload. */
  readonly generation: number
}

/** Statistics that a worker reports ten times a second. */
export interface WorkerStats {
  /** Open connections. */
  readonly connections: number
  /** Requests received since the start of the worker. */
  readonly requests: number
  /** Resident memory in bytes. */
  readonly rss: number
  /** Used heap of V8 in bytes. */
  readonly heapUsed: number
  /** Event loop utilization since the last report, from 0 to 1. */
  readonly utilization: number
}

/** A worker and its latest statistics. */
export interface WorkerStatus extends WorkerName, WorkerStats {
  readonly state: WorkerState
  /** Start time, in milliseconds since the epoch. */
  readonly startedAt: number
}

/** An older build that is still served: see the option `linger`. */
export interface LingeringBuild {
  readonly generation: number
  /** Ids by which requests name the build. */
  readonly ids: readonly string[]
  /** Number of workers that serve it. */
  readonly workers: number
  /** When a newer build has replaced it, in milliseconds since the epoch. */
  readonly since: number
  /** When its workers retire, in milliseconds since the epoch. */
  readonly until: number
}

/**
 * Why an older build is no longer served: its time is over, newer builds have taken its place, a reload has failed, its
 * workers have died, or the server closes.
 */
export type LingerEndReason = 'time' | 'builds' | 'reloadFailed' | 'died' | 'closing'

/** Current state of the server. */
export interface ClusterStatus {
  /** Whether the server accepts connections and has not received a stop signal. */
  readonly ready: boolean
  /** Counts up from 1 with each reload. */
  readonly generation: number
  /** Number of workers that are to accept connections: that of the option `workers`, or of the last `scale()`. */
  readonly size: number
  /** Empty when the app runs in this process. */
  readonly workers: readonly WorkerStatus[]
  /** Older builds that are still served; absent without the option `linger`. */
  readonly lingering?: readonly LingeringBuild[] | undefined
}

/** Addresses of probes, status and metrics: see the option `admin`. */
export interface AdminAddress {
  readonly host: string
  readonly port: number
  /** Port of HAProxy's agent checks. */
  readonly agentPort: number | undefined
}

/** Report about a blocked event loop: see the option `blockedLoopReport`. */
export interface BlockedLoopReport {
  /** Path of the report, if it could be written. */
  readonly file: string | undefined
  /** Function that blocks the event loop, and its place. */
  readonly at: string | undefined
  /** Why there is no report. */
  readonly failure: string | undefined
}

/** The code that workers run after a reload. */
export interface ReloadedRelease extends ReleaseVersion {
  readonly generation: number
  /** Path of the app's module, without symbolic links. */
  readonly path: string
}

/** Events of a clustered server. */
export interface ClusteredServerEvents {
  /** All workers accept connections. Emitted right after `createClusteredServer()` resolves. */
  ready: []
  /** A worker process was started. `status()` lists the workers of the start. */
  workerStart: [WorkerName]
  /** A worker accepts connections. */
  workerReady: [WorkerName]
  /** A worker process has ended. `expected` is false for a crash; `failure` says why the worker did not start. */
  workerExit: [WorkerName & WorkerExit & { readonly expected: boolean; readonly failure: string | undefined }]
  /** The event loop of a worker was blocked for `heartbeatTimeout`: the worker is killed. */
  workerBlocked: [WorkerName]
  /** The report of the option `blockedLoopReport` was written, or `failure` says why not. */
  blockedLoopReport: [WorkerName & BlockedLoopReport]
  /** A worker has reached a limit of `recycle` and is being replaced; `reason` names the limit. */
  recycle: [WorkerName & { readonly reason: RecycleReason }]
  /** Workers kept dying soon after their start. None are started until a reload. */
  crashLoop: [{ readonly deaths: number; readonly workers: number }]
  /** A reload starts new workers. */
  reload: [{ readonly generation: number }]
  /** The new workers have replaced the old ones. `path` is that of the app's module, without symbolic links. */
  reloaded: [ReloadedRelease]
  /** The new workers did not start; the old ones keep running. */
  reloadFailed: [{ readonly generation: number; readonly error: ClusteredServerError }]
  /** An older build is served beside the new one from now on. */
  lingerStart: [LingeringBuild]
  /** An older build is no longer served. */
  lingerEnd: [{ readonly generation: number; readonly reason: LingerEndReason }]
  /** A process has no free file descriptor, and closes new connections. Emitted each second until it has one. */
  workerFull: [WorkerName]
  /** Process `pid` had no free file descriptor for a connection handed over to it; the connection is closed. */
  connectionLost: [{ readonly pid: number | undefined }]
  /** Shutdown has begun. The server stops accepting connections after `shutdownDelay`. */
  closing: []
  /** All workers have ended. */
  closed: []
}

/** A server that runs in several processes, or in this one. */
export interface ClusteredServer extends EventEmitter<ClusteredServerEvents> {
  /** Port of the server; 0 for a UNIX socket. */
  readonly port: number
  /** IP address of the server; empty for a UNIX socket. */
  readonly host: string
  /** Path of the UNIX socket; `undefined` for a port. */
  readonly path: string | undefined
  /** Addresses of the admin server; `undefined` without the option `admin`. */
  readonly admin: AdminAddress | undefined
  /** Returns the readiness and the state of each worker. */
  status: () => ClusterStatus
  /**
   * Replaces the workers one by one with new ones that run the current code and environment. Idle connections are
   * handed over; no request is lost. Resolves when all workers are replaced.
   *
   * @throws CLUSTERED_SERVER_RELOAD_FAILED when the new version does not start and the old one
   * keeps running; `CLUSTERED_SERVER_SINGLE_PROCESS`, `CLUSTERED_SERVER_CLOSED`
   */
  reload: () => Promise<void>
  /**
   * Sets the number of workers.
   *
   * @throws CLUSTERED_SERVER_INVALID_OPTION, CLUSTERED_SERVER_SINGLE_PROCESS,
   * `CLUSTERED_SERVER_CLOSED`, `CLUSTERED_SERVER_START_FAILED`
   */
  scale: (workers: number) => Promise<void>
  /**
   * Stops accepting connections after `shutdownDelay`, finishes requests and closes the apps. Resolves when all
   * processes have ended and `onShutdown` has finished.
   */
  close: () => Promise<void>
  /** Kills all workers and closes all connections immediately. */
  kill: () => void
}
