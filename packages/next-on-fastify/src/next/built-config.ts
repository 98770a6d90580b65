// Reads the configuration that a build recorded in `.next`.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The used settings of a build's configuration. */
interface BuiltConfig {
  readonly basePath?: unknown
  readonly output?: unknown
  readonly deploymentId?: unknown
}

/** The configuration that an app was built with. Undefined without a build in `.next`. */
export function builtConfig(dir: string): BuiltConfig | undefined {
  return configOfBuild(join(dir, '.next'))
}

/** The configuration of the build in `distDir`. */
export function configOfBuild(distDir: string): BuiltConfig | undefined {
  try {
    const files = JSON.parse(readFileSync(join(distDir, 'required-server-files.json'), 'utf8')) as {
      config?: unknown
    }
    return typeof files.config === 'object' && files.config !== null ? files.config : undefined
  } catch {
    return undefined
  }
}

const CONFIG_FILES = ['next.config.js', 'next.config.mjs', 'next.config.ts', 'next.config.mts']

/**
 * The configuration of a folder written by `output: 'standalone'`. Such a folder has no `next.config`: the server that
 * Next writes there passes the configuration.
 */
export function standaloneConfig(dir: string): BuiltConfig | undefined {
  const config = builtConfig(dir)
  if (config?.output !== 'standalone' || CONFIG_FILES.some((file) => existsSync(join(dir, file)))) return undefined
  return config
}
