import { readConfig } from './config.ts'

/**
 * Path of `assetPrefix`, if it is outside of the base path. Next serves the files of the build there, too. `''` is none: without a
 * path, a CDN requests the files below the base path.
 */
export async function foreignAssetPath(dir: string, basePath: string, isDev: boolean): Promise<string> {
  if (basePath === '') return ''
  try {
    const { assetPrefix = '' } = await readConfig(dir, isDev ? 'phase-development-server' : 'phase-production-server')
    const path = new URL(assetPrefix, 'http://n').pathname.replace(/\/$/, '')
    return path === basePath || path.startsWith(`${basePath}/`) ? '' : path
  } catch {
    return ''
  }
}
