import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { UsageError } from '../usage-error.ts'

/** Variables for the workers of a generation. */
export type EnvOfGeneration = (generation: number) => Readonly<Record<string, string>>

/** Set by the server for its workers: where it listens does not change by a reload. */
const OF_SERVER = ['PORT', 'HOST']

/**
 * Reads files of environment variables, such as `.env`. A later file overrides an earlier one, and the environment of this
 * process overrides all of them, as with `node --env-file`.
 *
 * @throws UsageError when a file cannot be read
 */
export function readEnvFiles(paths: readonly string[], environment: NodeJS.ProcessEnv): Record<string, string> {
  const variables = Object.assign({}, ...paths.map((path) => parseEnv(read(path)))) as Record<string, string>
  return Object.fromEntries(Object.entries(variables).filter(([name]) => environment[name] === undefined))
}

/**
 * Reads the files once for each generation. A worker that replaces a dead one has the variables of its generation, even
 * if the files have changed since.
 */
export function envFileReader(paths: readonly string[], environment: NodeJS.ProcessEnv): EnvOfGeneration {
  const generations = new Map<number, Record<string, string>>()
  return (generation) => {
    let variables = generations.get(generation)
    if (variables === undefined) {
      variables = readEnvFiles(paths, environment)
      for (const name of OF_SERVER) delete variables[name]
      generations.set(generation, variables)
    }
    return variables
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`cannot read environment file ${path}: ${(error as NodeJS.ErrnoException).code}`, {
      cause: error,
    })
  }
}
