// Watt with a build of examples/next, where it is installed: no package of this repository brings it.

import { symlinkSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { CommandSubject } from 'speed-bounds'
import { copiesOfBuild } from './next.ts'
import { findWatt, writeWattApp } from './watt.ts'

/** Packages to install. `@platformatic/next` 3.54 imports the last one without a dependency on it. */
export const WATT_NEXT_INSTALL = 'npm install --global wattpm @platformatic/next @platformatic/job-queue'

/** Watt with a copy of the build `base`, which is to be built before. */
export async function wattOnBuild(): Promise<{ subject: CommandSubject; remove: () => Promise<void> } | undefined> {
  const packages = await findWatt()
  if (packages === undefined) return undefined
  const {
    dirs: [folder = ''],
    remove,
  } = await copiesOfBuild('base', 1)
  // Watt looks for its packages from the folder of the app on.
  await mkdir(`${folder}/node_modules`)
  symlinkSync(join(packages, '@platformatic'), `${folder}/node_modules/@platformatic`)
  writeWattApp(folder, 'next/3.54.0', 1, { private: true, dependencies: { next: '*' } })
  return { subject: { command: ['wattpm', 'start', folder], env: { NEXT_TELEMETRY_DISABLED: '1' } }, remove }
}
