import { builtConfig } from './built-config.ts'
import { BasePathError } from '../errors.ts'

/** Throws if an app was built for another base path. */
export function assertBasePath(dir: string, prefix: string): void {
  const basePath = builtConfig(dir)?.basePath
  if (typeof basePath !== 'string' || basePath === prefix) return
  throw new BasePathError(
    `The option "prefix" is "${prefix}", but ${dir} was built with the basePath "${basePath}": use the same path for both, and build again.`,
  )
}
