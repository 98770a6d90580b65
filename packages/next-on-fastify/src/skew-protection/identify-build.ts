// Names the build of this process to clustered-server, which serves older builds for a while: see its option `linger`.

import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { readConfig } from '../next/config.ts'
import { adoptDeploymentId, builtDeploymentId, ownDeploymentId } from '../next/deployment-id.ts'
import { type RequestedBuildOf, requestedBuildOf } from './requested-build.ts'

const MISSING =
  'skew protection is off: set "deploymentId" in next.config to another value for each build, such as the commit'

/** A build, as clustered-server takes it. */
interface Build {
  readonly ids: readonly string[]
  readonly folder: string
  readonly requestedBy: RequestedBuildOf
}

// The place where clustered-server collects builds, so that this package needs none of its modules.
const BUILDS = Symbol.for('clustered-server.builds')
const ofProcess = globalThis as { [BUILDS]?: Build[] }

/**
 * Makes Next start with the id of the build in `dir`, if this process keeps older builds. Its environment may have the id of
 * another build, such as the one that the primary was started with, or none.
 */
export function prepareBuild(dir: string): void {
  if (ofProcess[BUILDS] !== undefined) adoptDeploymentId(join(dir, '.next'))
}

/** Names the build of a started Next app, if this process keeps older builds. Warns if requests cannot name it. */
export async function identifyBuild(dir: string, log: FastifyBaseLogger): Promise<void> {
  const builds = ofProcess[BUILDS]
  if (builds === undefined) return
  const config = await readConfig(dir)
  const folder = realpathSync(join(dir, config.distDir))
  const own = ownDeploymentId()
  const built = builtDeploymentId(folder, config)
  // Pages name files of this build by the first id, and the code of pages names it by the second one.
  const ids = [...new Set([own, built])].filter((id) => id !== undefined)
  builds.push({ ids, folder, requestedBy: requestedBuildOf(config) })
  if (ids.length === 0) log.warn({ dir }, MISSING)
  else if (own !== built) log.warn({ dir, built, own }, mismatch(built, own))
  else log.info({ dir, deploymentId: own }, 'skew protection is on')
}

function mismatch(built: string | undefined, own: string | undefined): string {
  const [ofBuild, inProcess] = [built, own].map((id) => (id === undefined ? 'none' : `"${id}"`))
  return `skew protection is off: the deploymentId of the build is ${ofBuild}, that of this process ${inProcess}. Set the same one for "next build" and the server, also in NEXT_DEPLOYMENT_ID`
}
