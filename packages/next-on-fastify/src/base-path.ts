import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BasePathError } from './errors.ts'

/** Throws when an app was built for another path than the one that it is to answer under. */
export function demandBasePath(dir: string, prefix: string): void {
  const basePath = builtBasePath(dir)
  if (basePath === undefined || basePath === prefix) return
  throw new BasePathError(
    `Expected \`basePath\` in the configuration of ${dir} to be \`prefix\`, '${prefix}', got '${basePath}'`,
  )
}

/** The base path of a build, or nothing where there is none, or it is not where Next puts it unless told otherwise. */
function builtBasePath(dir: string): string | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(dir, '.next/routes-manifest.json'), 'utf8'))
    const { basePath } = manifest as { basePath?: unknown }
    return typeof basePath === 'string' ? basePath : undefined
  } catch {
    return undefined
  }
}
