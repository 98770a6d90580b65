import { extname } from 'node:path'
import { inspect } from 'node:util'
import { isRecord } from 'checked-options'
import { isName } from '../../options/schema.ts'
import type { ClusteredServerOptions } from '../../options/types.ts'
import { parseWithUnit } from '../units.ts'
import type { WatchRequest } from '../watch/watch-app.ts'
import { UsageError } from '../usage-error.ts'
import { keyOf, UNSUPPORTED } from './keys.ts'
import { splitWords } from './split-words.ts'

/** An app of an ecosystem file, in terms of this package. */
export interface EcosystemApp {
  /** Path of the module, relative to `cwd`. */
  readonly app: string
  /** Directory to start in. `undefined` for the current one. */
  readonly cwd: string | undefined
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly options: ClusteredServerOptions
  /** What to watch, if anything. */
  readonly watch: WatchRequest | undefined
  /** A line for each setting that has no effect here. */
  readonly unsupported: readonly string[]
}

/** The app and the environment to choose, and the machine. */
export interface EcosystemChoice {
  /** Name of the app. May be left out where there is one app. */
  readonly only?: string | undefined
  /** Name of the environment: `production` for `env_production`. */
  readonly env?: string | undefined
  /** Cores that this process may use. */
  readonly cores: number
}

type Settings = Readonly<Record<string, unknown>>

/** Extensions of modules. A script without extension, such as `bin/www`, is one too. */
const MODULES = ['', '.js', '.cjs', '.mjs', '.ts', '.cts', '.mts']
/** Commands that PM2 users name as script. None of them is a module. */
const COMMANDS = /^(?:npm|npx|yarn|pnpm|bun|deno|node|serve|bash|sh|python\d?)$/

/** Whether a configuration has the shape of PM2's. */
export function isEcosystem(config: unknown): boolean {
  return Array.isArray(config) || (isRecord(config) && ['apps', 'pm2', 'script', 'exec'].some((key) => key in config))
}

/**
 * Translates an app of a PM2 ecosystem file into options of this package.
 *
 * @param config the object that the file exports
 * @throws UsageError when no app can be chosen, or the app cannot run here
 */
export function readEcosystem(config: unknown, choice: EcosystemChoice): EcosystemApp {
  const found = chooseApp(appsOf(config), choice.only)
  const { settings, unknown } = canonical(found)
  const lines = [...(isRecord(config) && 'deploy' in config ? [DEPLOY] : []), ...unsupportedIn(settings), ...unknown]
  const { PORT, ...env } = environmentOf(found, settings, choice.env)
  return {
    app: scriptOf(settings),
    cwd: textOf(settings, 'cwd'),
    args: wordsOf(settings, 'args'),
    env,
    options: {
      ...namedAs(nameOf(found), lines),
      ...pidFileOf(settings),
      ...workersOf(settings, choice.cores, lines),
      ...addressOf(settings['port'] ?? PORT, env['HOST']),
      ...timesOf(settings),
      ...memoryOf(settings),
      ...execArgvOf(settings, lines),
    },
    watch: watchOf(settings),
    unsupported: lines,
  }
}

function watchOf({ watch, ignore_watch: ignore }: Settings): WatchRequest | undefined {
  if (!watch) return undefined
  const texts = (value: unknown): string[] => [value ?? []].flat().map(plainText)
  return { paths: watch === true ? [] : texts(watch), ignore: texts(ignore) }
}

const DEPLOY = 'deploy: not supported. Deploy by other means, then reload.'

function appsOf(config: unknown): readonly Settings[] {
  const inner = isRecord(config) ? (config['apps'] ?? config['pm2'] ?? config) : config
  const apps = Array.isArray(inner) ? (inner as unknown[]) : [inner]
  if (apps.length === 0) throw new UsageError('the ecosystem file has no apps')
  const bad = apps.find((app) => !isRecord(app))
  if (bad !== undefined)
    throw new UsageError(`expected each app of the ecosystem file to be an object, got ${shown(bad)}`)
  return apps as Settings[]
}

function chooseApp(apps: readonly Settings[], only: string | undefined): Settings {
  const names = apps.map((app) => nameOf(app))
  if (only === undefined) {
    if (apps.length === 1) return apps[0]!
    throw new UsageError(`the ecosystem file has ${apps.length} apps: choose one by --only, of ${names.join(', ')}`)
  }
  const app = apps[names.indexOf(only)]
  if (app === undefined) throw new UsageError(`the ecosystem file has no app ${only}: expected ${names.join(' or ')}`)
  return app
}

/** PM2 names an app without a name after its script. */
function nameOf(app: Settings): string {
  const script = plainText(app['script'] ?? app['exec'])
  const file = script.slice(script.lastIndexOf('/') + 1)
  return plainText(app['name'] ?? file.slice(0, file.length - extname(file).length))
}

/** Settings by the names of the tables, and a line for each key that PM2 does not know. */
function canonical(app: Settings): { settings: Settings; unknown: string[] } {
  const settings: Record<string, unknown> = {}
  const unknown: string[] = []
  for (const [name, value] of Object.entries(app)) {
    const key = keyOf(name)
    // PM2 takes the name over its aliases. An undefined value is often a variable that is not set.
    if (key !== undefined) settings[key] = name === key ? (value ?? settings[key]) : (settings[key] ?? value)
    else if (!name.startsWith('env_')) unknown.push(`${name}: unknown. PM2 has no such key.`)
  }
  return { settings, unknown }
}

function unsupportedIn(settings: Settings): string[] {
  // Without `watch`, the settings of watching mean nothing.
  const watches = Boolean(settings['watch'])
  return UNSUPPORTED.filter(({ key, harmless = [] }) => {
    const value = settings[key]
    if (value === undefined || value === null || harmless.includes(value)) return false
    return watches || !/watch_/.test(key)
  }).map(({ key, advice }) => `${key}: not supported. ${advice}`)
}

function scriptOf(settings: Settings): string {
  const script = textOf(settings, 'script')
  if (script === undefined) throw new UsageError('the app of the ecosystem file has no script')
  if (COMMANDS.test(script) || /\s/.test(script) || !MODULES.includes(extname(script)))
    throw new UsageError(
      `cannot run script ${JSON.stringify(script)}: expected a module of the app, such as "dist/server.js"`,
    )
  return script
}

function environmentOf(app: Settings, settings: Settings, name: string | undefined): Record<string, string> {
  const names = Object.keys(app).flatMap((key) => (key.startsWith('env_') ? [key.slice(4)] : []))
  if (name !== undefined && !names.includes(name))
    throw new UsageError(
      `the app ${nameOf(app)} of the ecosystem file has no env_${name}${names.length > 0 ? `: expected ${names.join(' or ')}` : ', and no other env_<name>'}`,
    )
  return { ...variablesOf(settings['env'], 'env'), ...(name && variablesOf(app[`env_${name}`], `env_${name}`)) }
}

/** As PM2 does: objects become JSON, other values become text. */
function variablesOf(value: unknown, key: string): Record<string, string> {
  if (value === undefined || value === null) return {}
  if (!isRecord(value)) throw invalid(key, 'an object', value)
  const entries = Object.entries(value).filter(([, one]) => one !== undefined && one !== null)
  return Object.fromEntries(entries.map(([name, one]) => [name, plainText(one)]))
}

function workersOf(settings: Settings, cores: number, lines: string[]): ClusteredServerOptions {
  const { instances = 1, exec_mode: mode } = settings
  // PM2 starts as many as there are cores for any text that is no number, such as "max" and "auto".
  const count = Number.parseInt(plainText(instances), 10) || 0
  const workers = count === 0 ? 'auto' : count < 0 ? Math.max(1, count + cores) : count
  const isFork = typeof mode === 'string' && mode.startsWith('fork')
  if (isFork && workers !== 1)
    lines.push(`exec_mode: "fork" has no effect with ${shown(instances)} instances. The workers share one port.`)
  if (!isFork && mode !== undefined && workers === 1)
    lines.push('instances: one worker cannot be reloaded. Set 2 or more for reloads without downtime.')
  return { workers }
}

function namedAs(name: string, lines: string[]): ClusteredServerOptions {
  if (isName(name)) return { name }
  lines.push(`name: ${shown(name)} cannot name a service here. Set another one by --name.`)
  return {}
}

function pidFileOf(settings: Settings): ClusteredServerOptions {
  const pidFile = textOf(settings, 'pid_file')
  return pidFile === undefined ? {} : { pidFile }
}

/** The primary listens, and tells the workers its port. */
function addressOf(port: unknown, host: string | undefined): ClusteredServerOptions {
  const number = Number(port)
  return {
    ...(port !== undefined && port !== '' && { port: Number.isNaN(number) ? plainText(port) : number }),
    ...(host !== undefined && host !== '' && { host }),
  }
}

function timesOf(settings: Settings): ClusteredServerOptions {
  const time = (key: string): number | undefined => {
    const value = settings[key] ?? undefined
    if (value === undefined) return undefined
    const milliseconds = parseWithUnit(plainText(value), 'milliseconds')
    if (typeof milliseconds === 'string') throw invalid(key, 'milliseconds', value)
    return Math.max(1, milliseconds)
  }
  const [drainTimeout, startTimeout] = [time('kill_timeout'), time('listen_timeout')]
  return { ...(drainTimeout && { drainTimeout }), ...(startTimeout && { startTimeout }) }
}

function memoryOf(settings: Settings): ClusteredServerOptions {
  const value = settings['max_memory_restart'] ?? undefined
  if (value === undefined) return {}
  const rss = parseWithUnit(plainText(value), 'bytes')
  if (typeof rss === 'string') throw invalid('max_memory_restart', 'a size such as "300M"', value)
  return rss > 0 ? { recycle: { rss } } : {}
}

function execArgvOf(settings: Settings, lines: string[]): ClusteredServerOptions {
  const interpreter = textOf(settings, 'interpreter') ?? 'node'
  if (!/^(?:.*[\\/])?node(?:\.exe)?$/.test(interpreter))
    lines.push(`interpreter: ${shown(interpreter)} is not supported. Workers run on Node ${process.versions.node}.`)
  const words = wordsOf(settings, 'node_args')
  if (settings['source_map_support'] === true) words.push('--enable-source-maps')
  return words.length > 0 ? { execArgv: words } : {}
}

function wordsOf(settings: Settings, key: string): string[] {
  const value = settings[key] ?? undefined
  if (value === undefined) return []
  if (Array.isArray(value)) return value.map(plainText)
  if (typeof value !== 'string' && typeof value !== 'number')
    throw invalid(key, 'a string or an array of strings', value)
  return splitWords(plainText(value))
}

function textOf(settings: Settings, key: string): string | undefined {
  const value = settings[key] ?? undefined
  if (value !== undefined && (typeof value !== 'string' || value === '')) throw invalid(key, 'a string', value)
  return value
}

function invalid(key: string, expected: string, got: unknown): UsageError {
  return new UsageError(`invalid ${key} in the ecosystem file: expected ${expected}, got ${shown(got)}`)
}

/** Numbers and booleans as text, objects as JSON. */
function plainText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function shown(value: unknown): string {
  return inspect(value, { depth: 0, breakLength: Infinity })
}
