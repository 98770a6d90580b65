import { isAbsolute } from 'node:path'
import {
  anyOf,
  boolean,
  bytes,
  custom,
  func,
  integer,
  list,
  milliseconds,
  object,
  oneOf,
  optional,
  type OptionsSchema,
  port,
  record,
  type Schema,
  string,
} from 'checked-options'
import type { CheckedOptions, ClusteredServerConfig, ClusteredServerOptions, Logger } from './types.ts'

const text = (): Schema<string> => string('a string', /^/)
const host = (): Schema<string> => string('an IP address or a host name')
const socketPath = (): Schema<string> =>
  custom('the absolute path of a UNIX socket', (value) => typeof value === 'string' && isAbsolute(value))
const logger = (): Schema<Logger> =>
  custom(
    'an object with the methods info, warn and error',
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      ['info', 'warn', 'error'].every((level) => typeof (value as Record<string, unknown>)[level] === 'function'),
  )

/** Port of a server without the option. */
export const DEFAULT_PORT = 3000
/** Maximum number of workers. */
export const MAX_WORKERS = 1024
/** Maximum number of older builds. */
const MAX_BUILDS = 16
/** Number of workers. */
export const workers: Schema<number> = integer(1, MAX_WORKERS)

/** Printable: names are shown in terminals. A number would be taken for a process id. */
const NAME = /^(?!\d+$)[\p{L}\p{N}@_](?:[\p{L}\p{N}\p{P}\p{S} ]{0,62}[\p{L}\p{N}\p{P}\p{S}])?$/u

/** Whether a text may be the name of a server. */
export function isName(value: string): boolean {
  return NAME.test(value)
}

const entries = {
  name: optional(string('a name of 1 to 64 printable characters that is no number', NAME)),
  pidFile: optional(string('the path of a file')),
  workers: optional(anyOf(workers, oneOf('auto')), 'auto'),
  port: optional(anyOf(port(), socketPath()), DEFAULT_PORT),
  host: optional(host()),
  sticky: optional(oneOf('address')),
  standby: optional(boolean(), true),
  startTimeout: optional(milliseconds(), 30_000),
  readyPath: optional(string('a path that begins with a slash, such as "/ready"', /^\/[!-~]*$/)),
  drainTimeout: optional(milliseconds(), 20_000),
  heartbeatTimeout: optional(anyOf(milliseconds(), oneOf(false)), 30_000),
  blockedLoopReport: optional(oneOf('stack', 'profile')),
  reportDirectory: optional(string('the path of a directory')),
  recycle: optional(
    object({
      requests: optional(integer(1)),
      rss: optional(bytes()),
      heap: optional(bytes()),
      age: optional(milliseconds(1, Number.MAX_SAFE_INTEGER)),
    }),
  ),
  linger: optional(
    object({
      time: milliseconds(),
      workers: optional(workers, 1),
      builds: optional(integer(1, MAX_BUILDS), 2),
    }),
  ),
  shutdownDelay: optional(milliseconds(0), 0),
  args: optional(list(text())),
  env: optional(anyOf(func<(generation: number) => Record<string, string>>(), record(text()))),
  execArgv: optional(list(text())),
  logPrefix: optional(boolean(), false),
  signals: optional(boolean(), true),
  admin: optional(
    object({
      port: port(),
      host: optional(host(), '127.0.0.1'),
      agentPort: optional(port()),
    }),
  ),
  logger: optional(logger()),
  onShutdown: optional(func<() => void | Promise<void>>()),
}

/** Names that options had before, and their names now or what to use instead. */
export const renamed: Readonly<Record<string, string>> = {
  spare: 'standby',
  stuckReport: 'blockedLoopReport',
  onWorkerStart: 'removed. Listen to the event "workerStart" of the server.',
  onReady: 'removed. Await createClusteredServer(), or listen to the event "ready" of the server.',
}

/** All options, their kinds and defaults. */
export const schema: OptionsSchema<ClusteredServerOptions, CheckedOptions> = object(entries, { renamed })

/** The options, and the keys of a configuration file beside them. */
export const configSchema: OptionsSchema<ClusteredServerConfig, CheckedOptions & ClusteredServerConfig> = object(
  {
    app: optional(string('the path of a module')),
    envFile: optional(anyOf(string('the path of a file'), list(string('the path of a file')))),
    ...entries,
  },
  { renamed },
)
