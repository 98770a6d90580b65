import { type OptionDescription, optionsOf } from 'checked-options'
import type { ParseArgsOptionsConfig } from 'node:util'
import { schema } from '../options/schema.ts'
import { expectedTexts, parseWithUnit } from './units.ts'
import { UsageError } from './usage-error.ts'

/** A flag of a command. */
export interface CommandFlag {
  readonly flag: string
  /** Placeholder of the value; none for a boolean. */
  readonly value?: string
  /** Description. That of an option is the same as in its TSDoc. */
  readonly help: string
}

/** A flag that sets an option of the server. */
export interface Flag extends CommandFlag {
  /** Path of the option. */
  readonly option: string
}

/** Flags for the options of `createClusteredServer()`. Their kinds come from the schema. */
export const flags: readonly Flag[] = [
  {
    option: 'name',
    flag: 'name',
    value: 'name',
    help: 'Name by which the commands "status", "reload", "scale" and "stop" find the server, through a UNIX socket that only its user can open.',
  },
  {
    option: 'pidFile',
    flag: 'pid-file',
    value: 'path',
    help: 'Path of a file that holds the process id of the primary while the server runs.',
  },
  {
    option: 'workers',
    flag: 'workers',
    value: 'count|auto',
    help: 'Number of worker processes, or "auto" for one per available core, within the container\'s quota. With 1 the app runs in this process.',
  },
  {
    option: 'port',
    flag: 'port',
    value: 'port|path',
    help: 'Port of the server, 0 for any free port; or the absolute path of a UNIX socket, such as "/run/app.sock".',
  },
  { option: 'host', flag: 'host', value: 'host', help: 'IP address or host name to listen on.' },
  {
    option: 'sticky',
    flag: 'sticky',
    value: 'address',
    help: '"address" lets one worker serve all connections of a client address, as long polling of Socket.IO needs.',
  },
  { option: 'standby', flag: 'standby', help: 'Keep one standby worker loaded that replaces a worker that dies.' },
  {
    option: 'startTimeout',
    flag: 'start-timeout',
    value: 'time',
    help: 'Maximum time for a worker to load its app, in milliseconds.',
  },
  {
    option: 'readyPath',
    flag: 'ready-path',
    value: 'path',
    help: 'Path that the app must serve with a status below 500 before a worker accepts connections.',
  },
  {
    option: 'drainTimeout',
    flag: 'drain-timeout',
    value: 'time',
    help: 'Maximum time for the requests of a worker to finish after it stops accepting connections, in milliseconds.',
  },
  {
    option: 'heartbeatTimeout',
    flag: 'heartbeat-timeout',
    value: 'time|false',
    help: 'Kill a worker whose event loop is blocked for longer than this, in milliseconds. "false" disables the check.',
  },
  {
    option: 'blockedLoopReport',
    flag: 'blocked-loop-report',
    value: 'stack|profile',
    help: 'Report to write before a worker with a blocked event loop is killed: "stack" for its call stack, "profile" for a CPU profile of 500 ms.',
  },
  { option: 'reportDirectory', flag: 'report-directory', value: 'path', help: 'Directory of these reports.' },
  {
    option: 'recycle.requests',
    flag: 'recycle-requests',
    value: 'count',
    help: 'Maximum number of requests of a worker.',
  },
  {
    option: 'recycle.rss',
    flag: 'recycle-rss',
    value: 'size',
    help: 'Maximum resident memory of a worker, in bytes.',
  },
  { option: 'recycle.heap', flag: 'recycle-heap', value: 'size', help: 'Maximum used heap of a worker, in bytes.' },
  {
    option: 'recycle.age',
    flag: 'recycle-age',
    value: 'time',
    help: 'Maximum time that a worker accepts connections, in milliseconds.',
  },
  {
    option: 'linger.time',
    flag: 'linger-time',
    value: 'time',
    help: 'How long an older build is served after the reload that has replaced it, in milliseconds.',
  },
  {
    option: 'linger.workers',
    flag: 'linger-workers',
    value: 'count',
    help: 'Number of workers that each older build keeps.',
  },
  {
    option: 'linger.builds',
    flag: 'linger-builds',
    value: 'count',
    help: 'Maximum number of older builds. The oldest retires first.',
  },
  {
    option: 'shutdownDelay',
    flag: 'shutdown-delay',
    value: 'time',
    help: 'How long the server keeps accepting connections after a stop signal, in milliseconds. "/ready" returns 503 meanwhile.',
  },
  {
    option: 'execArgv',
    flag: 'node-args',
    value: 'arguments',
    help: 'Node arguments for workers. Where a container limits memory, "--max-old-space-size" is added unless set.',
  },
  {
    option: 'logPrefix',
    flag: 'log-prefix',
    help: "Put the id of the worker before each line of the app's output, except lines of JSON.",
  },
  {
    option: 'admin.port',
    flag: 'admin-port',
    value: 'port',
    help: 'Port of "/live", "/ready", "/status" and "/metrics", 0 for any free port.',
  },
  { option: 'admin.host', flag: 'admin-host', value: 'host', help: 'IP address or host name of these ports.' },
  {
    option: 'admin.agentPort',
    flag: 'agent-port',
    value: 'port',
    help: "Port of HAProxy's agent checks, 0 for any free port.",
  },
]

const descriptions: ReadonlyMap<string, OptionDescription> = new Map(
  optionsOf(schema).map((description) => [description.name, description]),
)

/** Values of the flags below. */
export interface CommandValues {
  readonly config?: string
  readonly only?: string
  readonly env?: string
  readonly 'env-file'?: string[]
  readonly watch?: boolean
  readonly 'watch-path'?: string[]
  readonly 'watch-ignore'?: string[]
}

/** Flags of the command that set no option. */
export const commandFlags: readonly CommandFlag[] = [
  {
    flag: 'config',
    value: 'path',
    help: 'Configuration file, or an ecosystem file of PM2. Default: clustered-server.config.{js,mjs,cjs,ts,json}',
  },
  {
    flag: 'env-file',
    value: 'path',
    help: 'File of environment variables for workers, read again on each reload. May be repeated.',
  },
  {
    flag: 'watch',
    help: 'Reload when code or JSON in the working directory changes, with one worker unless set. For development only.',
  },
  {
    flag: 'watch-path',
    value: 'path',
    help: 'Directory or file to watch in place of the working directory, with all kinds of files. May be repeated.',
  },
  {
    flag: 'watch-ignore',
    value: 'pattern',
    help: 'Name or path to ignore, beside node_modules and names that begin with a dot. May be repeated.',
  },
  { flag: 'only', value: 'name', help: 'App of an ecosystem file.' },
  { flag: 'env', value: 'name', help: 'Environment of an ecosystem file: "production" for its env_production.' },
]

/** Flags that may be repeated. */
const MULTIPLE = ['env-file', 'watch-path', 'watch-ignore']

/** Flags of a command as `util.parseArgs()` takes them. */
export function parseArgsOf(ofCommand: readonly CommandFlag[]): ParseArgsOptionsConfig {
  const entries = ofCommand.map(({ flag, value }) => {
    const type = value === undefined ? ('boolean' as const) : ('string' as const)
    return [flag, { type, multiple: MULTIPLE.includes(flag) }] as const
  })
  return { ...Object.fromEntries(entries), help: { type: 'boolean', short: 'h' } }
}

/**
 * Converts the values of flags to options. Invalid values stay as they are, for the check of the options.
 *
 * @throws UsageError for a text that is no time or no size
 */
export function toOptions(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const options: Record<string, unknown> = {}
  for (const { option, flag } of flags) {
    const given = values[flag]
    if (given === undefined) continue
    const [key, inner] = option.split('.') as [string, string?]
    const parsed = typeof given === 'string' ? parse(option, flag, given) : given
    if (inner === undefined) options[key] = parsed
    else options[key] = { ...(options[key] as object | undefined), [inner]: parsed }
  }
  return options
}

function parse(option: string, flag: string, text: string): unknown {
  const { unit, expected } = descriptions.get(option)!
  if (text === 'false' && expected.includes('false')) return false
  if (unit) {
    const value = parseWithUnit(text, unit)
    if (typeof value === 'number') return value
    throw new UsageError(`Invalid option "--${flag}": expected ${expectedTexts[unit]}, got ${JSON.stringify(text)}.`)
  }
  if (expected.includes('an array')) return text.split(/\s+/).filter(Boolean)
  return expected.includes('integer') && /^\d+$/.test(text) ? Number(text) : text
}

/** Replaces names of options in an error message with those of their flags. */
export function withFlagNames(message: string): string {
  return message.replace(/^Invalid option "([\w.]+)(?:\[\d+\])?"/, (text, option: string) => {
    const flag = flags.find((one) => one.option === option)?.flag
    return flag === undefined ? text : `Invalid option "--${flag}"`
  })
}

/** The default of a flag's option, for the help. */
export function defaultOf(option: string): string | undefined {
  return JSON.stringify(descriptions.get(option)?.default)
}
