import { statSync } from 'node:fs'
import { basename, dirname, extname, resolve } from 'node:path'
import { checkOptions } from 'checked-options'
import { configSchema, isName } from '../../options/schema.ts'
import type { ClusteredServerConfig, ClusteredServerOptions, LingerOptions } from '../../options/types.ts'
import { availableCores } from '../../platform/available-cores.ts'
import { CONFIG_NAME, findConfig, isConfigFile, type LoadedConfig, loadConfig } from './config-file.ts'
import { ReleaseLinks } from '../../releases/release-links.ts'
import { isEcosystem, readEcosystem } from '../ecosystem/read-ecosystem.ts'
import { envFileReader, readEnvFiles } from './env-file.ts'
import { UsageError } from '../usage-error.ts'
import { watchedFiles, type WatchRequest } from '../watch/watch-app.ts'
import type { WatchedFiles } from '../watch/watched-paths.ts'

/** The command line of a start. */
export interface StartArguments {
  /** Path of the app or of a configuration file. */
  readonly positional: string | undefined
  readonly config: string | undefined
  /** Name of an app in an ecosystem file. */
  readonly only: string | undefined
  /** Name of an environment in an ecosystem file. */
  readonly env: string | undefined
  readonly envFiles: readonly string[]
  /** Options from flags. */
  readonly options: ClusteredServerOptions
  /** Arguments after `--`. */
  readonly args: readonly string[]
  readonly watch: WatchFlags
}

/** What flags say about watching: `false` overrides the file, `undefined` leaves it to the file. */
export type WatchFlags = WatchRequest | false | undefined

/** An app and the options to start it with. */
export interface StartSettings {
  /** Absolute path of the app's module. */
  readonly app: string
  readonly options: ClusteredServerOptions
  /** Settings of the configuration file that have no effect. */
  readonly warnings: readonly string[]
  /** Files whose changes make a reload. */
  readonly watch: WatchedFiles | undefined
}

/** Settings of a configuration file. Paths are absolute. */
export interface FileSettings {
  readonly app: string | undefined
  readonly cwd?: string | undefined
  readonly envFiles: readonly string[]
  readonly options: ClusteredServerOptions
  readonly warnings: readonly string[]
  readonly watch?: WatchRequest | undefined
}

/**
 * Combines flags, configuration file, environment files and environment. Changes to the working directory of an ecosystem
 * file.
 *
 * @throws UsageError
 */
export async function startSettings(given: StartArguments): Promise<StartSettings> {
  const file = await fileSettings(given)
  const { positional } = given
  const fromArgument = positional === undefined || isConfigFile(positional) ? undefined : resolve(positional)
  const ownEnvFiles = given.envFiles.map((path) => resolve(path))
  if (file.cwd !== undefined) changeDirectory(file.cwd)
  const app = fromArgument ?? file.app
  if (app === undefined) throw new UsageError(withoutApp(configPath(positional, given.config)))
  assertFile(app)
  const links = new ReleaseLinks(app)
  const envFiles = [...file.envFiles, ...ownEnvFiles].map((path) => links.through(path))
  const options = merged(file.options, given)
  return {
    app,
    options: {
      name: nameOf(app),
      ...fromEnvironment(options, readEnvFiles(envFiles, process.env)),
      ...options,
      ...envOf(options, envFiles),
    },
    ...watchOf(file, given.watch, app, envFiles),
  }
}

function withoutApp(config: string | undefined): string {
  if (config === undefined) return 'expected an app or a configuration file: see --help'
  return `${basename(config)} names no app: set "app" in it, or name the app on the command line`
}

/** A file that was written for development must not make a server in production watch. */
function watchOf(
  { watch: ofFile, options, warnings }: FileSettings,
  flags: WatchFlags,
  app: string,
  envFiles: readonly string[],
): Pick<StartSettings, 'watch' | 'warnings'> {
  const request = flags ?? ofFile
  if (request === undefined || request === false) return { watch: undefined, warnings }
  const { NODE_ENV } = { ...process.env, ...(typeof options.env === 'object' && options.env) }
  if (flags === undefined && NODE_ENV === 'production')
    return { watch: undefined, warnings: [...warnings, 'watch: ignored where NODE_ENV is production'] }
  return { watch: watchedFiles(request, app, envFiles), warnings }
}

/**
 * Settings of the configuration file that a command line names, or that the working directory has.
 *
 * @throws UsageError
 */
export async function fileSettings({
  positional,
  config,
  only,
  env,
}: Pick<StartArguments, 'positional' | 'config' | 'only' | 'env'>): Promise<FileSettings> {
  const path = configPath(positional, config)
  const loaded = path === undefined ? undefined : await loadConfig(path)
  if (loaded !== undefined && isEcosystem(loaded.value)) return ecosystemSettings(loaded, only, env)
  if ((only ?? env) !== undefined) throw new UsageError('--only and --env need an ecosystem file of PM2')
  return loaded === undefined ? { app: undefined, envFiles: [], options: {}, warnings: [] } : configSettings(loaded)
}

/** An ecosystem file that nobody named is read only where no app is given: its settings belong to its own app. */
function configPath(positional: string | undefined, config: string | undefined): string | undefined {
  if (config !== undefined) {
    if (positional !== undefined && isConfigFile(positional))
      throw new UsageError(`expected one configuration file, got ${config} and ${positional}`)
    return resolve(config)
  }
  if (positional === undefined) return findConfig(process.cwd(), [CONFIG_NAME, 'ecosystem.config'])
  return isConfigFile(positional) ? resolve(positional) : findConfig(process.cwd(), [CONFIG_NAME])
}

function configSettings({ path, value }: LoadedConfig): FileSettings {
  check(path, value)
  const { app, envFile = [], ...options } = value as ClusteredServerConfig
  const absolute = (relative: string): string => resolve(dirname(path), relative)
  const envFiles = (typeof envFile === 'string' ? [envFile] : envFile).map(absolute)
  return { app: app === undefined ? undefined : absolute(app), envFiles, options, warnings: [] }
}

function ecosystemSettings({ path, value }: LoadedConfig, only?: string, env?: string): FileSettings {
  const found = readEcosystem(value, { only, env, cores: availableCores() })
  const cwd = resolve(found.cwd ?? '')
  const options = { ...found.options, args: found.args, env: found.env }
  check(path, options)
  const warnings = found.unsupported.map((line) => `${basename(path)}: ${line}`)
  return { app: resolve(cwd, found.app), cwd, envFiles: [], options, warnings, watch: found.watch }
}

function check(path: string, options: unknown): void {
  checkOptions(configSchema, options, (message) => new UsageError(`${basename(path)}: ${message}`))
}

/** Flags override the file; `recycle`, `linger` and `admin` key by key. */
function merged(file: ClusteredServerOptions, { options, args }: StartArguments): ClusteredServerOptions {
  const recycle = { ...file.recycle, ...options.recycle }
  const linger = { ...file.linger, ...options.linger } as LingerOptions
  const admin = { ...file.admin, ...options.admin }
  if (options.admin !== undefined && admin.port === undefined)
    throw new UsageError('--admin-host and --agent-port need --admin-port')
  return {
    ...file,
    ...options,
    ...((file.recycle ?? options.recycle) && { recycle }),
    ...((file.linger ?? options.linger) && { linger }),
    ...(admin.port !== undefined && { admin: { ...admin, port: admin.port } }),
    // The app must not see the flags of the command.
    args: args.length > 0 ? args : (file.args ?? []),
  }
}

/** As in PM2, a service without a name is named after its file. */
function nameOf(app: string): string {
  const name = basename(app, extname(app))
  return isName(name) ? name : 'app'
}

/** Address that PORT and HOST set, unless an option does. Files count less than the environment. */
function fromEnvironment(options: ClusteredServerOptions, variables: Record<string, string>): ClusteredServerOptions {
  const { PORT, HOST } = { ...variables, ...process.env }
  return { ...(PORT && options.port === undefined && { port: portFrom(PORT) }), ...(HOST && { host: HOST }) }
}

function portFrom(text: string): number | string {
  const port = /^\d+$/.test(text) ? Number(text) : text
  if (Number(port) > 65_535 || (typeof port === 'string' && !port.startsWith('/')))
    throw new UsageError(
      `Invalid environment variable PORT: expected a port or the path of a UNIX socket, got "${text}"`,
    )
  return port
}

/** Variables of the files are read for each generation. */
function envOf({ env = {} }: ClusteredServerOptions, files: readonly string[]): ClusteredServerOptions {
  if (files.length === 0) return { env }
  const ofFiles = envFileReader(files, process.env)
  return {
    env: (generation) => ({ ...ofFiles(generation), ...(typeof env === 'function' ? env(generation) : env) }),
  }
}

function changeDirectory(directory: string): void {
  try {
    process.chdir(directory)
  } catch (error) {
    throw new UsageError(`cannot change to directory ${directory}: ${(error as NodeJS.ErrnoException).code}`)
  }
}

function assertFile(path: string): void {
  try {
    statSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new UsageError(`there is no file ${path}`)
    throw new UsageError(`cannot read ${path}: ${code}`)
  }
}
