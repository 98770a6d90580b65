// What the primary and its workers say to each other. All of it is under one key, so that an app may use the same channel.

import type { Serializable } from 'node:child_process'
import type { ClusteredServerErrorCode } from '../errors.ts'
import type { Place } from './shared-stats.ts'
import type { Missing } from '../app/listen-hook.ts'
import type { SocketQuery } from '../primary/shared-sockets.ts'
import type { ReportSetup } from '../worker/blocked-loop-report.ts'
import type { Metric } from '../observability/prom-client.ts'

/** What a worker is to run. */
export interface StartMessage {
  type: 'start'
  /** URL of the module of the app. */
  app: string
  /** Where the socket is bound, for what apps print. */
  host: string
  port: number
  /** The path of the socket, if it is a UNIX socket. */
  path: string | undefined
  /** The descriptor of the listening socket; without it, the port is to be listened on. */
  fd: number | undefined
  /** Where it writes down its figures; without it, it tells them. */
  figures: Place | undefined
  /** The path that the app has to respond to before it takes connections. */
  readyPath: string | undefined
  /** Milliseconds for connections and requests to end once the worker retires. */
  drainTimeout: number
  /** What a thread is to report of a stuck event loop, and the descriptor on which it is told to. */
  report: (ReportSetup & { fd: number }) | undefined
}

/** What the primary tells a worker. */
export type ToWorker =
  | StartMessage
  /** Take new connections. */
  | { type: 'listen' }
  /** Take no new connections, give away those that rest if there is somebody to take them, and end when all are gone. */
  | { type: 'retire'; handOver: boolean }
  /** Give away so many connections that rest. */
  | { type: 'shed'; count: number }
  /** Here is a connection of another worker, which has rested for so many milliseconds. Comes with its handle. */
  | { type: 'connection'; rested: number }
  /** Here is a socket that was asked for, or the number of an error. Comes with its handle. */
  | { type: 'shared'; request: number; error?: number }
  /** Do what only one worker does. */
  | { type: 'lead' }
  /** Tell what the app has measured. */
  | { type: 'metrics' }
  /** Tell your figures of now. */
  | { type: 'figures' }

/** What a worker tells the primary. */
export type ToPrimary =
  /** The app is loaded, and something is missing yet. */
  | { type: 'waiting'; missing: Missing }
  /** Send a socket to listen on, beside that of the server. */
  | { type: 'share'; request: number; query: SocketQuery }
  /** It is not accepted from any longer. */
  | { type: 'unshare'; query: SocketQuery }
  /** The app is loaded and warm, and is now asked for `readyPath`. */
  | { type: 'checking' }
  /** The app is loaded and warm, and responds. */
  | { type: 'loaded'; canMove: boolean }
  /** New connections are taken. */
  | { type: 'listening' }
  /** It could not start. */
  | { type: 'failed'; message: string; stack: string | undefined; code: ClusteredServerErrorCode | undefined }
  /** Many connections have come at once. */
  | { type: 'burst' }
  /** When it was asked for them, and where there is no file for them. */
  | { type: 'figures'; figures: WorkerFigures }
  /** Here is a connection for another worker, which has rested for so many milliseconds. Comes with its handle. */
  | { type: 'connection'; rested: number }
  /** There is something that only one worker is to do. */
  | { type: 'candidate' }
  /** It does no longer what only one worker does. */
  | { type: 'resigned' }
  /** What the app has measured, and the file of the prom-client that did; or why its registry failed. */
  | { type: 'metrics'; metrics: readonly Metric[]; file?: string | undefined; failure?: string }

/** What a worker says of itself, a few times a second. */
export interface WorkerFigures {
  /** Connections that are open. */
  readonly connections: number
  /** Requests that have come since it started. */
  readonly requests: number
  /** Resident memory in bytes. */
  readonly rss: number
  /** V8's heap in use, in bytes. */
  readonly heapUsed: number
  /** The share of time in which the event loop had work, since it was last told. */
  readonly utilization: number
}

const KEY = 'clusteredServer'

/** A message as it travels. */
export function sealed(message: ToWorker | ToPrimary): Serializable {
  return { [KEY]: message }
}

/** What came, when it is one of ours. */
export function opened(message: unknown): unknown {
  return typeof message === 'object' && message !== null && KEY in message ? message[KEY] : undefined
}
