import { type NextConfig, readConfig } from './config.ts'

/** Path of `assetPrefix`, which may be a URL. `''` without one. */
export function assetPathOf({ assetPrefix = '' }: NextConfig): string {
  return new URL(assetPrefix, 'http://n').pathname.replace(/\/$/, '')
}

/**
 * Path of `assetPrefix`, if it is outside of the base path. Next serves the files of the build there, too. `''` is none: without a
 * path, a CDN requests the files below the base path.
 */
export async function foreignAssetPath(dir: string, basePath: string, isDev: boolean): Promise<string> {
  if (basePath === '') return ''
  try {
    const path = assetPathOf(await readConfig(dir, isDev))
    return path === basePath || path.startsWith(`${basePath}/`) ? '' : path
  } catch {
    return ''
  }
}
