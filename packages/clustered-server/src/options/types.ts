/** Options of `createClusteredServer()`. */
export interface ClusteredServerOptions {
  /** Name by which the commands `status`, `reload`, `scale` and `stop` find the server, through a UNIX socket that only its user can open. @default none */
  name?: string
  /** Path of a file that holds the process id of the primary while the server runs. @default none */
  pidFile?: string
  /** Number of worker processes, or `'auto'` for one per available core, within the container's quota. With 1 the app runs in this process. @default 'auto' */
  workers?: number | 'auto'
  /** Port of the server, 0 for any free port; or the absolute path of a UNIX socket, such as `'/run/app.sock'`. @default 3000 */
  port?: number | string
  /** IP address or host name to listen on. @default all addresses */
  host?: string
  /** `'address'` lets one worker serve all connections of a client address, as long polling of Socket.IO needs. @default none */
  sticky?: 'address'
  /** Keep one standby worker loaded that replaces a worker that dies. @default true */
  standby?: boolean
  /** Maximum time for a worker to load its app, in milliseconds. @default 30000 */
  startTimeout?: number
  /** Path that the app must serve with a status below 500 before a worker accepts connections. @default none */
  readyPath?: string
  /** Maximum time for the requests of a worker to finish after it stops accepting connections, in milliseconds. @default 20000 */
  drainTimeout?: number
  /** Kill a worker whose event loop is blocked for longer than this, in milliseconds. `false` disables the check. @default 30000 */
  heartbeatTimeout?: number | false
  /** Report to write before a worker with a blocked event loop is killed: `'stack'` for its call stack, `'profile'` for a CPU profile of 500 ms. @default none */
  blockedLoopReport?: BlockedLoopReportKind
  /** Directory of these reports. @default the working directory */
  reportDirectory?: string
  /** Limits at which a worker is replaced, as by a reload. @default none */
  recycle?: RecycleOptions
  /** Keep workers of an older build after a reload, for requests that name that build. @default none */
  linger?: LingerOptions
  /** How long the server keeps accepting connections after a stop signal, in milliseconds. `/ready` returns 503 meanwhile. @default 0 */
  shutdownDelay?: number
  /** Command-line arguments for the app, which reads them from `process.argv`. @default none */
  args?: readonly string[]
  /** Environment variables for workers, added to those of this process; or a function that returns them for a generation, called for each worker that starts. @default none */
  env?: Readonly<Record<string, string>> | ((generation: number) => Readonly<Record<string, string>>)
  /** Node arguments for workers. Where a container limits memory, `--max-old-space-size` is added unless set. @default those of this process */
  execArgv?: readonly string[]
  /** Put the id of the worker before each line of the app's output, except lines of JSON. @default false */
  logPrefix?: boolean
  /** Handle signals: `SIGTERM` and `SIGINT` shut down, `SIGHUP` reloads, `SIGTTIN` and `SIGTTOU` add and remove a worker. @default true */
  signals?: boolean
  /** Address of an HTTP server for probes, status and metrics. @default none */
  admin?: AdminOptions
  /** Logger for events, such as pino: an object with the methods `info`, `warn` and `error`. @default none */
  logger?: Logger
  /** Function to call after all workers have ended. `close()` and the end of the process wait for it. @default none */
  onShutdown?: () => void | Promise<void>
}

/** Content of `clustered-server.config.js`: the options of the server, and the app. */
export interface ClusteredServerConfig extends ClusteredServerOptions {
  /** Path of the app's module, relative to the configuration file. @default the argument of the command */
  app?: string
  /** Path of a file of environment variables for workers, or several, relative to the configuration file. Read again on each reload. @default none */
  envFile?: string | readonly string[]
}

/** Kinds of reports about a blocked event loop. */
export type BlockedLoopReportKind = 'stack' | 'profile'

/** Limits at which a worker is replaced. */
export interface RecycleOptions {
  /** Maximum number of requests of a worker. @default none */
  requests?: number
  /** Maximum resident memory of a worker, in bytes. @default none */
  rss?: number
  /** Maximum used heap of a worker, in bytes. @default none */
  heap?: number
  /** Maximum time that a worker accepts connections, in milliseconds. @default none */
  age?: number
}

/** How long and by how many workers an older build is served. */
export interface LingerOptions {
  /** How long an older build is served after the reload that has replaced it, in milliseconds. */
  time: number
  /** Number of workers that each older build keeps. @default 1 */
  workers?: number
  /** Maximum number of older builds. The oldest retires first. @default 2 */
  builds?: number
}

/** The limit that a worker has reached. */
export type RecycleReason = keyof RecycleOptions

/** Addresses of probes, status and metrics. */
export interface AdminOptions {
  /** Port of `/live`, `/ready`, `/status` and `/metrics`, 0 for any free port. */
  port: number
  /** IP address or host name of these ports. @default '127.0.0.1' */
  host?: string
  /** Port of HAProxy's agent checks, 0 for any free port. @default none */
  agentPort?: number
}

/** A logger with the signature of pino: an object first. */
export interface Logger {
  info: (about: object, message: string) => void
  warn: (about: object, message: string) => void
  error: (about: object, message: string) => void
}

/** Kind and directory of the reports about blocked event loops. */
export interface ReportSetup {
  readonly kind: BlockedLoopReportKind
  readonly directory: string
}

type Defaults =
  | 'workers'
  | 'port'
  | 'standby'
  | 'startTimeout'
  | 'drainTimeout'
  | 'heartbeatTimeout'
  | 'shutdownDelay'
  | 'logPrefix'
  | 'signals'

/** Checked options with their defaults. */
export type CheckedOptions = Omit<ClusteredServerOptions, Defaults | 'admin' | 'linger'> &
  Required<Pick<ClusteredServerOptions, Defaults>> & {
    admin?: AdminOptions & Required<Pick<AdminOptions, 'host'>>
    linger?: Required<LingerOptions>
  }

/** Options as the server uses them. */
export interface ResolvedOptions extends Required<
  Pick<
    CheckedOptions,
    | 'standby'
    | 'startTimeout'
    | 'drainTimeout'
    | 'recycle'
    | 'shutdownDelay'
    | 'env'
    | 'execArgv'
    | 'logPrefix'
    | 'signals'
    | 'onShutdown'
  >
> {
  /** URL of the app's module, by way of a link to its release if there is one. */
  readonly app: string
  readonly name: string | undefined
  /** Absolute path. */
  readonly pidFile: string | undefined
  /** Working directory by way of such a link. `undefined` if it is gone. */
  readonly cwd: string | undefined
  readonly workers: number
  /** 0 for a UNIX socket. */
  readonly port: number
  /** Path of the UNIX socket. */
  readonly path: string | undefined
  /** `undefined` for all addresses. */
  readonly host: string | undefined
  readonly sticky: boolean
  readonly readyPath: string | undefined
  /** `Infinity` for no limit. */
  readonly heartbeatTimeout: number
  readonly blockedLoopReport: ReportSetup | undefined
  readonly linger: Readonly<Required<LingerOptions>> | undefined
  readonly args: readonly string[] | undefined
  readonly admin: ResolvedAdminOptions | undefined
  readonly logger: Logger | undefined
}

/** Options of the admin server as it uses them. */
export interface ResolvedAdminOptions {
  readonly port: number
  readonly host: string
  readonly agentPort: number | undefined
}
