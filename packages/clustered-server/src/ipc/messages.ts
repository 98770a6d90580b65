// Messages between the primary and its workers. One key wraps them all, so that an app may use the same channel.

import type { Serializable } from 'node:child_process'
import type { ClusteredServerErrorCode } from '../errors.ts'
import type { ReportSetup } from '../options/types.ts'
import type { BindQuery } from '../platform/node-internals.ts'
import type { WorkerStats } from '../server-types.ts'

/** Environment variable with the process id of the primary, by which a worker recognizes itself. */
export const PRIMARY_PID = 'CLUSTERED_SERVER_PRIMARY'
/** Environment variable with the id of a worker. */
export const WORKER_ID = 'CLUSTERED_SERVER_WORKER'

/** Place of a worker's statistics: a file descriptor and a position in that file. */
export interface StatsSlot {
  readonly fd: number
  readonly position: number
}

/** A socket that several workers share, beside the one of the server. */
export interface SocketQuery extends BindQuery {
  /** How many listens on port 0 this worker has made before. The nth of every worker share one socket. */
  readonly index: number
}

/** A condition that a start waits for. */
export interface Missing {
  readonly what: string
  readonly hint?: string
}

/** A metric in the JSON format of prom-client. */
export interface Metric {
  readonly name: string
  readonly type: string
  readonly values: readonly unknown[]
}

/** An error of the app's code, as JSON. */
export interface ThrownError {
  readonly name: string
  readonly message: string
  readonly stack?: string | undefined
  /** Such as `ECONNREFUSED`. */
  readonly code?: unknown
}

/** Why a worker could not start. */
export interface FailedStart {
  readonly message: string
  /** Code of an error of this package. */
  readonly code?: ClusteredServerErrorCode | undefined
  readonly cause?: ThrownError | undefined
  /** Whether the cause is the failure itself, and not what explains it. */
  readonly isThrown?: boolean
}

/** A build that other workers serve, and their sockets for forwarded requests. */
export interface OtherBuild {
  readonly ids: readonly string[]
  readonly sockets: readonly string[]
}

/** First message to a worker. */
export interface StartMessage {
  type: 'start'
  /** URL of the app's module. */
  app: string
  /** Bound address, for apps that print it. */
  host: string
  port: number
  /** Path of the socket, if it is a UNIX socket. */
  path: string | undefined
  /** Descriptor of the listening socket. Without it, the worker listens on the port. */
  fd: number | undefined
  /** Place for statistics. Without it, the worker sends them as messages. */
  stats: StatsSlot | undefined
  /** Path that the app must serve before the worker accepts connections. */
  readyPath: string | undefined
  /** Maximum time for connections and requests to end, in milliseconds. */
  drainTimeout: number
  /** Whether one worker serves all connections of a client address. */
  sticky: boolean
  /** Path of the socket for forwarded requests, with the option `linger`. */
  buildSocket: string | undefined
  /** Whether the primary serves the app's metrics. */
  hasMetrics: boolean
  /** Setup of the reporter of blocked event loops, and the descriptor of its pipe. */
  report: (ReportSetup & { fd: number }) | undefined
}

/** Messages from the primary to a worker. */
export type ToWorker =
  | StartMessage
  /** Accept connections. */
  | { type: 'listen' }
  /** Stop accepting connections, hand idle ones over if `handOver` is set, and end when no connection is left. */
  | { type: 'retire'; handOver: boolean }
  /** Stop accepting connections as before an end, and serve only forwarded requests. */
  | { type: 'linger' }
  /** The builds of other workers, the newest one first. */
  | { type: 'builds'; builds: readonly OtherBuild[] }
  /** Ids of the workers that accept connections. */
  | { type: 'workers'; ids: readonly number[] }
  /** Hand over `count` connections to other workers. */
  | { type: 'rebalance'; count: number }
  /** A connection of another worker, idle for `idleMs` milliseconds. Comes with its handle. */
  | { type: 'connection'; idleMs: number }
  /** A requested shared socket with its handle, or an error number. */
  | { type: 'shared'; request: number; error?: number }
  /** Become the leader, which runs the tasks of `runOnOneWorker()`. */
  | { type: 'lead' }
  /** Send the app's metrics. */
  | { type: 'metrics' }
  /** Send current statistics. */
  | { type: 'stats' }

/** Messages from a worker to the primary. */
export type ToPrimary =
  /** The app is loaded, but a condition is missing. */
  | { type: 'waiting'; missing: Missing }
  /** Send a shared socket. */
  | { type: 'share'; request: number; query: SocketQuery }
  /** The worker no longer accepts from a shared socket. */
  | { type: 'unshare'; query: SocketQuery }
  /** The app is loaded and warm; the request to `readyPath` follows. */
  | { type: 'checking' }
  /** The build of the app, whose requests the worker accepts from others. */
  | { type: 'build'; ids: readonly string[]; folders: readonly string[] }
  /** The app is loaded, warm and responds. If it listens by itself, it may have named a host. */
  | { type: 'loaded'; canHandOver: boolean; host: string | undefined }
  /** The worker accepts connections. */
  | { type: 'listening' }
  /** The worker could not start. */
  | ({ type: 'failed' } & FailedStart)
  /** Many connections have arrived at once. */
  | { type: 'burst' }
  /** The worker has no free descriptor, and closes new connections. */
  | { type: 'full' }
  /** Current statistics, on request or where there is no shared file. */
  | { type: 'stats'; stats: WorkerStats }
  /** A connection for another worker, `to` or any, idle for `idleMs` milliseconds. Comes with its handle. */
  | { type: 'connection'; idleMs: number; to?: number | undefined }
  /** The worker has tasks for one worker only. */
  | { type: 'candidate' }
  /** The worker has ended its tasks for one worker only. */
  | { type: 'resigned' }
  /** The app's metrics and the file of its prom-client; or the reason why its registry failed. */
  | { type: 'metrics'; metrics: readonly Metric[]; file?: string | undefined; failure?: string }

/** Duration of a profile of a blocked event loop, in milliseconds. */
export const PROFILE_MS = 500

const KEY = 'clusteredServer'

/** Wraps a message for the channel. */
export function encode(message: ToWorker | ToPrimary): Serializable {
  return { [KEY]: message }
}

/** Unwraps a message; `undefined` for messages of the app. */
export function decode(message: unknown): unknown {
  return typeof message === 'object' && message !== null && KEY in message ? message[KEY] : undefined
}
