import { statSync } from 'node:fs'
import type { FastifyServerOptions, LogLevel } from 'fastify'
import type { MachineCacheOptions } from './shared-cache/open-shared-cache.ts'
import type { RedisCacheOptions } from './shared-cache/redis/redis-store.ts'
import { InvalidOptionError } from './errors.ts'
import type { GracefulStopOptions } from './http/graceful-stop.ts'
import type { MemoryOptions } from './response-cache/create-response-cache.ts'
import type { NextObserver } from './observability/observers.ts'

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
  /** Who is told of what Next answers, such as metrics. @default none */
  observers?: readonly NextObserver[]
  /**
   * Who shares pages, data and what was revalidated: `'process'` for nobody, `'machine'` for all processes of this machine
   * that serve the same build, or a Redis for those of many machines. @default 'process'
   */
  cache?: 'machine' | 'process' | MachineCacheOptions | RedisCacheOptions
  /**
   * What is handed to its route without Next's router server: `'api'` means API routes and route handlers, `'all'` also
   * pages that are rendered for each request. @default false
   */
  direct?: false | 'all' | 'api'
}

/** Options of {@link createNextOnFastify}: the plugin's, and those of Fastify itself. */
export interface CreateNextOnFastifyOptions<Fastify = FastifyServerOptions> extends NextPluginOptions {
  /**
   * Whether `SIGTERM` and `SIGINT` close the app and end the process once it listens, unless something else in the process
   * listens for the signal. @default false in `dev`, else true
   */
  gracefulStop?: boolean | GracefulStopOptions
  /** Options of `Fastify()`. @default {} */
  fastify?: Fastify
}

/** Whether Next compiles what is asked for. */
export function isDev({ dev = process.env['NODE_ENV'] !== 'production' }: NextPluginOptions): boolean {
  return dev
}

/** What is expected of an option, in words and in code. */
type Check = readonly [expected: string, holds: (value: unknown) => boolean]

const LOG_LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

const OBSERVER_METHODS = ['nextOpened', 'nextClosed', 'nextAnswered']

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
    "a boolean, or an object with limits that are whole numbers above 0, switches that are booleans, and `proxyMemory`, which may be 'after-proxy' too",
    (value) => typeof value === 'boolean' || (isRecord(value) && Object.entries(value).every(isMemoryOption)),
  ],
  observers: [
    `an array of objects with some of ${OBSERVER_METHODS.join(', ')}`,
    (value) => Array.isArray(value) && value.every(isObserver),
  ],
  cache: [
    "'process', 'machine', or an object with a `folder`, or with `redis`, a `prefix` and a `timeout` above 0",
    (value) =>
      value === 'process' || value === 'machine' || (isRecord(value) && (isFolderCache(value) || isRedisCache(value))),
  ],
  direct: ["false, 'api' or 'all'", (value) => value === false || value === 'api' || value === 'all'],
}

const FACTORY_CHECKS: Readonly<Record<'fastify' | 'gracefulStop', Check>> = {
  gracefulStop: [
    'a boolean, or an object with a `timeout` of 0 or more',
    (value) => typeof value === 'boolean' || (isRecord(value) && Object.entries(value).every(isStopOption)),
  ],
  fastify: ['an object', isRecord],
}

/** Throws for options that no app can be served with: the plugin's, and those of the factory too where it is asked. */
export function checkOptions(options: unknown, ofFactory = false): void {
  demand(isRecord(options), 'options', 'an object', options)
  const checks: Readonly<Record<string, Check>> = ofFactory ? { ...CHECKS, ...FACTORY_CHECKS } : CHECKS
  const known = Object.keys(checks)
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new InvalidOptionError(`Expected \`options\` to have some of ${known.join(', ')}, got \`${unknown}\``)
  }
  for (const [name, [expected, holds]] of Object.entries(checks)) {
    const value = options[name]
    demand(value === undefined || holds(value), name, expected, value)
  }
}

const MEMORY_LIMITS = ['bytes', 'entries', 'entryBytes']
const MEMORY_SWITCHES = ['brotli', 'explain', 'proxyMemory']

function isMemoryOption([name, value]: readonly [string, unknown]): boolean {
  if (name === 'proxyMemory' && value === 'after-proxy') return true
  if (MEMORY_SWITCHES.includes(name)) return value === undefined || typeof value === 'boolean'
  return MEMORY_LIMITS.includes(name) && (value === undefined || (Number.isSafeInteger(value) && (value as number) > 0))
}

function isStopOption([name, value]: readonly [string, unknown]): boolean {
  return name === 'timeout' && (value === undefined || (Number.isFinite(value) && (value as number) >= 0))
}

function isObserver(value: unknown): boolean {
  if (!isRecord(value)) return false
  const methods = OBSERVER_METHODS.map((name) => value[name]).filter((method) => method !== undefined)
  return methods.length > 0 && methods.every((method) => typeof method === 'function')
}

function isFolderCache({ folder, ...others }: Record<string, unknown>): boolean {
  return Object.keys(others).length === 0 && (folder === undefined || (typeof folder === 'string' && folder !== ''))
}

function isRedisCache({ redis, prefix, timeout, ...others }: Record<string, unknown>): boolean {
  if (Object.keys(others).length > 0 || typeof redis !== 'function') return false
  if (prefix !== undefined && typeof prefix !== 'string') return false
  return timeout === undefined || (Number.isFinite(timeout) && (timeout as number) > 0)
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
