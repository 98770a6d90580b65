import { isIP } from 'node:net'
import { isAbsolute, resolve } from 'node:path'
import { inspect } from 'node:util'
import { availableCores } from '../platform/available-cores.ts'
import { ClusteredServerError } from '../errors.ts'
import type { ClusteredServerOptions, Logger, RecycleOptions, ReportSetup, ResolvedOptions } from './types.ts'

const HOOKS = ['onShutdown'] as const
const KEYS: readonly (keyof ClusteredServerOptions)[] = [
  ...(['workers', 'port', 'host', 'spare', 'startTimeout', 'readyPath', 'drainTimeout', 'heartbeatTimeout'] as const),
  ...([
    'blockedLoopReport',
    'reportDirectory',
    'recycle',
    'shutdownDelay',
    'env',
    'execArgv',
    'signals',
    'admin',
    'logger',
  ] as const),
  ...HOOKS,
]
const RECYCLE_KEYS: readonly (keyof RecycleOptions)[] = ['requests', 'rss', 'heap', 'age']
/** More than that setTimeout() does not take. */
const LONGEST = 2 ** 31 - 1

/** @throws {ClusteredServerError} `CLUSTERED_SERVER_INVALID_OPTION` */
export function resolveOptions(app: URL | string, options: ClusteredServerOptions): ResolvedOptions {
  demand(app instanceof URL || typeof app === 'string', 'app', 'a file URL of the module, as by new URL(...)', app)
  const url = typeof app === 'string' ? URL.parse(app) : app
  demand(url?.protocol === 'file:', 'app', 'a file URL of the module, as by new URL(...)', String(app))
  demand(isRecord(options), 'options', 'an object', options)
  const unknown = Object.keys(options).find((key) => !(KEYS as readonly string[]).includes(key))
  demand(unknown === undefined, 'options', `options among ${KEYS.join(', ')}`, unknown)
  const workers = options.workers ?? 'auto'
  demand(workers === 'auto' || isWorkers(workers), 'workers', WORKERS, workers)
  const env: unknown = options.env ?? {}
  demand(
    typeof env === 'function' || (isRecord(env) && Object.values(env).every(isText)),
    'env',
    'an object of strings, or a function',
    env,
  )
  const execArgv = options.execArgv ?? withoutScript(process.execArgv)
  demand(Array.isArray(execArgv) && execArgv.every(isText), 'execArgv', 'an array of strings', execArgv)
  return {
    app: url.href,
    workers: workers === 'auto' ? availableCores() : workers,
    ...portOrPath(options.port),
    host: host(options.host),
    spare: flag('spare', options.spare),
    startTimeout: milliseconds('startTimeout', options.startTimeout ?? 30_000),
    readyPath: readyPath(options.readyPath),
    drainTimeout: milliseconds('drainTimeout', options.drainTimeout ?? 20_000),
    heartbeatTimeout:
      options.heartbeatTimeout === false
        ? Infinity
        : milliseconds('heartbeatTimeout', options.heartbeatTimeout ?? 1000),
    blockedLoopReport: blockedLoopReport(options.blockedLoopReport, options.reportDirectory),
    recycle: recycle(options.recycle ?? {}),
    shutdownDelay: milliseconds('shutdownDelay', options.shutdownDelay ?? 0, 0),
    env: env as ResolvedOptions['env'],
    execArgv,
    signals: flag('signals', options.signals),
    admin: admin(options.admin),
    logger: logger(options.logger),
    ...hooks(options),
  }
}

/** Of arguments of Node what says which script to run: a worker would start workers too, by `--eval` and its script. */
const SCRIPT = /^(?:-p?e|-p|--eval|--print|--input-type)$/

function withoutScript(execArgv: readonly string[]): string[] {
  return execArgv.filter((text, index) => {
    const [name = ''] = text.split('=')
    return !SCRIPT.test(name) && !SCRIPT.test(execArgv[index - 1] ?? '')
  })
}

const WORKERS = "an integer from 1 to 1024, or 'auto'"

/** Whether so many workers can be asked for. */
function isWorkers(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1024
}

/** @throws {ClusteredServerError} `CLUSTERED_SERVER_INVALID_OPTION` */
export function assertWorkers(value: unknown): asserts value is number {
  demand(isWorkers(value), 'workers', 'an integer from 1 to 1024', value)
}

function portOrPath(given: unknown): Pick<ResolvedOptions, 'port' | 'path'> {
  const from = process.env['PORT']
  const wanted = given ?? from
  // On Windows such a path is that of a named pipe.
  if (isText(wanted) && isAbsolute(wanted)) return { port: 0, path: wanted }
  const value = given ?? (from === undefined || from === '' ? 3000 : Number(from))
  const name = given === undefined ? 'PORT' : 'port'
  demand(isPort(value), name, `${PORT}, or the absolute path of a UNIX socket`, wanted)
  return { port: value, path: undefined }
}

const PORT = 'an integer from 0 to 65535'

function isPort(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 65_536
}

function host(given: unknown): string | undefined {
  const from = process.env['HOST']
  const value = given ?? (from === '' ? undefined : from)
  const name = given === undefined ? 'HOST' : 'host'
  demand(value === undefined || isAddress(value), name, ADDRESS, value)
  return value
}

function readyPath(given: unknown): string | undefined {
  const isPath = given === undefined || (isText(given) && /^\/[!-~]*$/.test(given))
  demand(isPath, 'readyPath', "a path that begins with a slash, such as '/ready'", given)
  return given
}

function blockedLoopReport(kind: unknown, directory: unknown): ReportSetup | undefined {
  demand(
    kind === undefined || kind === 'stack' || kind === 'profile',
    'blockedLoopReport',
    "'stack' or 'profile'",
    kind,
  )
  const isPath = directory === undefined || (isText(directory) && directory !== '')
  demand(isPath, 'reportDirectory', 'the path of a folder', directory)
  return kind && { kind, directory: resolve(directory ?? '') }
}

function recycle(given: unknown): RecycleOptions {
  demand(isRecord(given), 'recycle', `an object with some of ${RECYCLE_KEYS.join(', ')}`, given)
  const unknown = Object.keys(given).find((key) => !(RECYCLE_KEYS as readonly string[]).includes(key))
  demand(unknown === undefined, 'recycle', `an object with some of ${RECYCLE_KEYS.join(', ')}`, unknown)
  for (const key of RECYCLE_KEYS) {
    const isOne = given[key] === undefined || (Number.isSafeInteger(given[key]) && (given[key] as number) >= 1)
    demand(isOne, `recycle.${key}`, 'an integer of 1 or more', given[key])
  }
  return { ...given }
}

const ADDRESS = "an IP address, such as '127.0.0.1' or '::'"

function isAddress(value: unknown): value is string {
  return isText(value) && isIP(value) !== 0
}

function admin(given: unknown): ResolvedOptions['admin'] {
  if (given === undefined) return undefined
  demand(isRecord(given), 'admin', 'an object', given)
  const unknown = Object.keys(given).find((key) => !['port', 'host', 'agentPort'].includes(key))
  demand(unknown === undefined, 'admin', 'an object of port, host and agentPort', unknown)
  const { port: own, host: address = '127.0.0.1', agentPort } = given
  demand(isPort(own), 'admin.port', PORT, own)
  demand(isAddress(address), 'admin.host', ADDRESS, address)
  demand(agentPort === undefined || isPort(agentPort), 'admin.agentPort', PORT, agentPort)
  return { port: own, host: address, agentPort }
}

function logger(given: unknown): Logger | undefined {
  const isOne = isRecord(given) && ['info', 'warn', 'error'].every((level) => typeof given[level] === 'function')
  demand(given === undefined || isOne, 'logger', 'an object with the functions info, warn and error', given)
  return given && outlived(given as unknown as Logger)
}

/** A logger that throws, as on a full disk, is to stop nothing. */
function outlived(own: Logger): Logger {
  const at =
    (level: keyof Logger) =>
    (about: object, message: string): void => {
      try {
        own[level](about, message)
      } catch {}
    }
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

function hooks(given: ClusteredServerOptions): Pick<ResolvedOptions, (typeof HOOKS)[number]> {
  for (const name of HOOKS)
    demand(given[name] === undefined || typeof given[name] === 'function', name, 'a function', given[name])
  const nothing = (): void => {}
  const { onShutdown = nothing } = given
  return { onShutdown }
}

function flag(name: string, value: unknown): boolean {
  demand(value === undefined || typeof value === 'boolean', name, 'a boolean', value)
  return value ?? true
}

function milliseconds(name: string, value: unknown, least: number = 1): number {
  const isOne = Number.isInteger(value) && (value as number) >= least && (value as number) <= LONGEST
  demand(isOne, name, `whole milliseconds from ${least} to ${LONGEST}`, value)
  return value as number
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function demand(condition: boolean, name: string, expected: string, got: unknown): asserts condition {
  if (condition) return
  const text = `Expected \`${name}\` to be ${expected}, got ${inspect(got, { depth: 0, breakLength: Infinity })}`
  throw new ClusteredServerError('CLUSTERED_SERVER_INVALID_OPTION', text)
}
