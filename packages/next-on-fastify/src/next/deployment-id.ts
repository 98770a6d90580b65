// The option `deploymentId` of Next, which tells builds apart. With it, all builds have the same build id.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { configOfBuild } from './built-config.ts'
import type { NextConfig } from './config.ts'

/** The id that a started Next adds to the URLs of files. */
export function ownDeploymentId(): string | undefined {
  // Next sets the variable at its start.
  return process.env['NEXT_DEPLOYMENT_ID'] || undefined
}

/** Sets the id with which Next starts to that of the build in `distDir`, if it has one. */
export function adoptDeploymentId(distDir: string): void {
  const id = configOfBuild(distDir)?.deploymentId
  if (typeof id === 'string' && id !== '') process.env['NEXT_DEPLOYMENT_ID'] = id
}

/** The id of the build in `distDir`, which the code of its pages sends. */
export function builtDeploymentId(distDir: string, { experimental }: NextConfig): string | undefined {
  if (experimental?.['runtimeServerDeploymentId']) return ownDeploymentId()
  const id = configOfBuild(distDir)?.deploymentId
  return typeof id === 'string' && id !== '' ? id : undefined
}

/** A name of the build in `distDir` that no other build has, for caches that several builds use. */
export function uniqueBuildId(distDir: string, config: NextConfig): string {
  const buildId = readFileSync(join(distDir, 'BUILD_ID'), 'utf8')
  const deploymentId = builtDeploymentId(distDir, config)
  return deploymentId === undefined ? buildId : `${buildId}-${deploymentId}`
}
