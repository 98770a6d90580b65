// Watt with a build of examples/next, where it is installed: no package of this repository brings it.

import { execFile } from 'node:child_process'
import { realpathSync, symlinkSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { CommandSubject } from 'speed-bounds'
import { copiesOfBuild } from './next.ts'

/** What has to be installed: `@platformatic/next` 3.54 imports the last one, and does not name it as a dependency. */
export const WATT_INSTALL = 'npm install --global wattpm @platformatic/next @platformatic/job-queue'

/** Watt with a copy of the build `base`, which is to be built before. */
export async function wattOnBuild(): Promise<{ subject: CommandSubject; remove: () => Promise<void> } | undefined> {
  const found = await promisify(execFile)('which', ['wattpm']).catch(() => undefined)
  if (found === undefined) return undefined
  const packages = join(realpathSync(found.stdout.trim()), '../../..')
  const {
    dirs: [folder = ''],
    remove,
  } = await copiesOfBuild('base', 1)
  // Watt looks for its packages from the folder of the app on.
  await mkdir(`${folder}/node_modules`)
  symlinkSync(join(packages, '@platformatic'), `${folder}/node_modules/@platformatic`)
  const files = {
    'package.json': { private: true, type: 'module', dependencies: { next: '*' } },
    'watt.json': {
      $schema: 'https://schemas.platformatic.dev/@platformatic/next/3.54.0.json',
      runtime: {
        server: { hostname: '{HOST}', port: '{PORT}' },
        workers: { static: 1 },
        logger: { level: 'error' },
      },
    },
  }
  for (const [name, content] of Object.entries(files)) await writeFile(`${folder}/${name}`, JSON.stringify(content))
  return { subject: { command: ['wattpm', 'start', folder], env: { NEXT_TELEMETRY_DISABLED: '1' } }, remove }
}
