import { statSync } from 'node:fs'
import type { FastifyServerOptions, LogLevel } from 'fastify'
import { InvalidOptionError } from './errors.ts'
import type { MemoryOptions } from './memory/create-memory.ts'

/** Options of {@link nextPlugin}. */
export interface NextPluginOptions {
  /** The folder of the Next app, which has its `next.config`; relative to the working directory. @default '.' */
  dir?: string
  /** Whether Next compiles what is asked for, as `next dev` does. @default true unless `NODE_ENV` is `production` */
  dev?: boolean
  /** The host name that Next takes the server to have where a request does not tell. @default 'localhost' */
  hostname?: string
  /** The port that Next takes the server to have where a request does not tell. @default 3000 */
  port?: number
  /** The path that Next answers under, which is the `basePath` of its configuration. @default all paths */
  prefix?: string
  /**
   * Whether sockets that ask for an upgrade reach Next: in `dev` those by which pages learn of changes, in production
   * those that a rewrite of Next hands on to another server. @default true in `dev`, else false
   */
  upgrades?: boolean
  /** The header by which Next is told Fastify's id of a request, whatever the client has sent there. @default none */
  requestIdHeader?: string
  /** The level that requests which Next answers are logged at. @default the app's */
  logLevel?: LogLevel
  /** Whether answers that Next has declared fresh are kept in memory. @default false */
  memory?: boolean | MemoryOptions
}

/** Options of {@link createNextOnFastify}: the plugin's, and those of Fastify itself. */
export interface CreateNextOnFastifyOptions extends NextPluginOptions {
  /** Options of `Fastify()`. @default {} */
  fastify?: FastifyServerOptions
}

/** What is expected of an option, in words and in code. */
type Check = readonly [expected: string, holds: (value: unknown) => boolean]

const LOG_LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

const aBoolean: Check = ['a boolean', (value) => typeof value === 'boolean']

const CHECKS: Readonly<Record<keyof NextPluginOptions, Check>> = {
  dir: ['a folder that is there', isFolder],
  dev: aBoolean,
  hostname: ['a host name', (value) => typeof value === 'string' && value !== ''],
  port: ['a port', (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535],
  prefix: [
    'a path that begins with a slash and does not end with one, without parameters',
    (value) => typeof value === 'string' && (value === '' || /^(\/[^/*:]+)+$/.test(value)),
  ],
  upgrades: aBoolean,
  requestIdHeader: [
    'the name of a header in lower case',
    (value) => typeof value === 'string' && /^[a-z0-9-]+$/.test(value),
  ],
  logLevel: [`one of ${LOG_LEVELS.join(', ')}`, (value) => LOG_LEVELS.includes(value as LogLevel)],
  memory: [
    'a boolean, or an object with limits that are whole numbers above 0 and switches that are booleans',
    (value) => typeof value === 'boolean' || (isRecord(value) && Object.entries(value).every(isMemoryOption)),
  ],
}

/** Throws for options that no app can be served with. */
export function checkOptions(options: unknown, others: readonly string[] = []): void {
  demand(isRecord(options), 'options', 'an object', options)
  const known = [...Object.keys(CHECKS), ...others]
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new InvalidOptionError(`Expected \`options\` to have some of ${known.join(', ')}, got \`${unknown}\``)
  }
  for (const [name, [expected, holds]] of Object.entries(CHECKS)) {
    const value = options[name]
    demand(value === undefined || holds(value), name, expected, value)
  }
}

const MEMORY_LIMITS = ['bytes', 'entries', 'entryBytes']
const MEMORY_SWITCHES = ['explain', 'proxyMemory']

function isMemoryOption([name, value]: readonly [string, unknown]): boolean {
  if (MEMORY_SWITCHES.includes(name)) return value === undefined || typeof value === 'boolean'
  return MEMORY_LIMITS.includes(name) && (value === undefined || (Number.isSafeInteger(value) && (value as number) > 0))
}

function isFolder(value: unknown): boolean {
  return typeof value === 'string' && (statSync(value, { throwIfNoEntry: false })?.isDirectory() ?? false)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function demand(holds: boolean, name: string, expected: string, got: unknown): asserts holds {
  if (!holds) throw new InvalidOptionError(`Expected \`${name}\` to be ${expected}, got ${shown(got)}`)
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'string') return `${JSON.stringify(value)} (string)`
  if (typeof value === 'number' || typeof value === 'boolean') return `${value} (${typeof value})`
  if (value === undefined || value === null) return String(value)
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
