import { dirname, resolve } from 'node:path'
import { assertOption, check } from '../options/check.ts'
import { configNamesSchema, configSchema } from '../options/config-schema.ts'
import type { ConfigClaim, SpeedBoundsConfig } from '../options/config-types.ts'
import type { RaceOptions } from '../options/types.ts'
import { loadConfig } from './config-file.ts'

/** A configuration whose own options are checked. `race()` checks those of the race. */
export interface Config {
  readonly subjects: SpeedBoundsConfig['subjects']
  readonly claims: readonly ConfigClaim[]
  readonly install: string | false | undefined
  readonly build: string | undefined
  readonly raceOptions: RaceOptions & { readonly cwd: string }
  /** Folder of the file. */
  readonly directory: string
}

/** Reads the configuration of a folder, or a file. */
export async function readConfig(path: string | undefined, directory: string = process.cwd()): Promise<Config> {
  const { path: file, value } = await loadConfig(path, directory)
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  assertOption(isObject, 'the default export of the configuration', 'an object', value)
  check(configNamesSchema, value)
  const { subjects, claims = [], install, build, ...raceOptions } = value as SpeedBoundsConfig
  check(configSchema, {
    subjects,
    claims,
    ...(install === undefined ? {} : { install }),
    ...(build === undefined ? {} : { build }),
  })
  const folder = dirname(file)
  const { cwd: given = '.' } = raceOptions
  assertOption(typeof given === 'string', 'cwd', 'a path', given)
  const cwd = resolve(folder, given)
  return { subjects, claims, install, build, raceOptions: { ...raceOptions, cwd }, directory: folder }
}
