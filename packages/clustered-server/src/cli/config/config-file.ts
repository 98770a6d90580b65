import { existsSync, readFileSync } from 'node:fs'
import { basename, extname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { UsageError } from '../usage-error.ts'

/** Name of the configuration file, without extension. */
export const CONFIG_NAME = 'clustered-server.config'
const EXTENSIONS = ['js', 'mjs', 'cjs', 'ts', 'json']

/** A configuration file, and the value that it exports. */
export interface LoadedConfig {
  /** Absolute path. */
  readonly path: string
  readonly value: unknown
}

/**
 * The configuration file of a directory. `undefined` without one.
 *
 * @param names file names without extension, in the order of the search
 * @throws UsageError when a name has several extensions
 */
export function findConfig(directory: string, names: readonly string[]): string | undefined {
  for (const name of names) {
    const files = EXTENSIONS.map((extension) => `${name}.${extension}`)
    const found = files.filter((file) => existsSync(join(directory, file)))
    if (found.length > 1) throw new UsageError(`found ${found.join(' and ')}: keep one, or choose it by --config`)
    if (found.length === 1) return join(directory, found[0]!)
  }
  return undefined
}

/** Whether a path that was given for an app is that of a configuration file, by the names that PM2 takes for one, and by ours. */
export function isConfigFile(path: string): boolean {
  return (
    /\.config\.[cm]?js$|(?:^|[\\/.-])(?:clustered-server|ecosystem|pm2)\.config\.[cm]?ts$|\.json$/.test(path) ||
    isYaml(path)
  )
}

/** PM2 reads it. Here it has an error of its own. */
function isYaml(path: string): boolean {
  return /\.ya?ml$/.test(path)
}

/**
 * Loads a configuration file: the default export of a module, or the JSON.
 *
 * @throws UsageError when there is none, or it cannot be loaded
 */
export async function loadConfig(path: string): Promise<LoadedConfig> {
  if (!existsSync(path)) throw new UsageError(`there is no file ${path}`)
  if (isYaml(path))
    throw new UsageError(`cannot load ${relative('', path)}: YAML is not supported, write it as JSON or as a module`)
  try {
    return { path, value: extname(path) === '.json' ? parse(path) : await importDefault(path) }
  } catch (error) {
    const [message = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1)
    throw new UsageError(`cannot load ${relative('', path)}: ${withNewName(message, path)}`, { cause: error })
  }
}

/** Node's advice about CommonJS in a `.js` file is in further lines. */
function withNewName(message: string, path: string): string {
  if (extname(path) !== '.js' || !message.includes('is not defined in ES module scope')) return message
  return `${message}: rename it to ${basename(path, '.js')}.cjs`
}

function parse(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}

async function importDefault(path: string): Promise<unknown> {
  const module = (await import(pathToFileURL(path).href)) as { default?: unknown }
  if (module.default === undefined) throw new Error('it has no default export')
  return module.default
}
