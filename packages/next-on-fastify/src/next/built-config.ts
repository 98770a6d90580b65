// What a build tells of its configuration, where Next puts that unless it is told otherwise.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What is used of the configuration of a build. */
interface BuiltConfig {
  readonly basePath?: unknown
  readonly output?: unknown
}

/** The configuration that an app was built with; nothing where there is no build, or it is elsewhere. */
export function builtConfig(dir: string): BuiltConfig | undefined {
  try {
    const files = JSON.parse(readFileSync(join(dir, '.next/required-server-files.json'), 'utf8')) as {
      config?: unknown
    }
    return typeof files.config === 'object' && files.config !== null ? files.config : undefined
  } catch {
    return undefined
  }
}

const CONFIG_FILES = ['next.config.js', 'next.config.mjs', 'next.config.ts', 'next.config.mts']

/**
 * The configuration of a folder that `output: 'standalone'` has made. Such a folder has no `next.config`: the server that
 * Next writes beside it hands the configuration on.
 */
export function standaloneConfig(dir: string): BuiltConfig | undefined {
  const config = builtConfig(dir)
  if (config?.output !== 'standalone' || CONFIG_FILES.some((file) => existsSync(join(dir, file)))) return undefined
  return config
}
