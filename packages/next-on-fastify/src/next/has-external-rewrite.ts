import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from './config.ts'
import { type RoutesManifest, rulesOf } from './build/route-rules.ts'

/** Whether the build of the app in `dir` has a rewrite to another server. False if its manifest cannot be read. */
export async function hasExternalRewrite(dir: string): Promise<boolean> {
  try {
    const { distDir } = await readConfig(dir)
    const manifest = JSON.parse(readFileSync(join(dir, distDir, 'routes-manifest.json'), 'utf8')) as RoutesManifest
    return rulesOf(manifest).rewrites.some(({ destination = '' }) => /^https?:\/\//.test(destination))
  } catch {
    return false
  }
}
