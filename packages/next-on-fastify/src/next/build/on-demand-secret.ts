import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Manifest {
  readonly preview: { readonly previewModeId: string }
}

/** The secret value of `x-prerender-revalidate` in requests that regenerate a page of a build on demand. */
export function onDemandSecret(distDir: string): string {
  const { preview } = JSON.parse(readFileSync(join(distDir, 'prerender-manifest.json'), 'utf8')) as Manifest
  return preview.previewModeId
}
