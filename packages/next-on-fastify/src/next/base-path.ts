import { builtConfig } from './built-config.ts'
import { BasePathError } from '../errors.ts'

/** Throws when an app was built for another path than the one that it is to answer under. */
export function demandBasePath(dir: string, prefix: string): void {
  const basePath = builtConfig(dir)?.basePath
  if (typeof basePath !== 'string' || basePath === prefix) return
  throw new BasePathError(
    `Expected \`basePath\` in the configuration of ${dir} to be \`prefix\`, '${prefix}', got '${basePath}'`,
  )
}
