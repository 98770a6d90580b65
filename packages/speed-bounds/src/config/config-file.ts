import { existsSync, readFileSync } from 'node:fs'
import { extname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { errorCodes } from '../errors.ts'
import { moduleAdvice } from './module-advice.ts'

const NAMES = ['ts', 'js', 'mjs', 'json'].map((extension) => `speed-bounds.config.${extension}`)

/** A configuration file, and the value that it exports. */
export interface LoadedConfig {
  /** Absolute path. */
  readonly path: string
  readonly value: unknown
}

/** Loads a configuration file, or the one of a folder: the default export of a module, or the JSON. */
export async function loadConfig(path: string | undefined, directory: string): Promise<LoadedConfig> {
  const file = path === undefined ? findConfig(directory) : resolve(directory, path)
  if (!existsSync(file)) throw notLoaded(`There is no file ${path}. Correct the path of --config.`)
  try {
    return { path: file, value: extname(file) === '.json' ? parse(file) : await importDefault(file) }
  } catch (error) {
    const [message] = (error instanceof Error ? error.message : String(error)).split('\n', 1)
    throw notLoaded(`Cannot load ${relative(directory, file)}: ${message}${moduleAdvice(message!)}`, error)
  }
}

function findConfig(directory: string): string {
  const found = NAMES.filter((name) => existsSync(join(directory, name)))
  if (found.length > 1) throw notLoaded(`Found ${found.join(' and ')}: keep one, or name it by --config.`)
  if (found.length === 1) return join(directory, found[0]!)
  throw notLoaded(`Found no ${NAMES[0]} in this folder (nor .js, .mjs, .json): create it, or name it by --config.`)
}

function parse(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}

async function importDefault(path: string): Promise<unknown> {
  const module = (await import(pathToFileURL(path).href)) as { default?: unknown }
  if (module.default === undefined) throw new Error('it has no default export. Write: export default { subjects: … }')
  return module.default
}

function notLoaded(message: string, cause?: unknown): Error {
  return new errorCodes.SPEED_BOUNDS_CONFIG_NOT_LOADED(message, { cause })
}
