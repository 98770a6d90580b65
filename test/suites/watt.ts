// Watt, where it is installed: no package of this repository brings it.

import { execFile } from 'node:child_process'
import { mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Package to install for apps that a module creates. */
export const WATT_INSTALL = 'npm install --global wattpm @platformatic/node'

/** The folder of packages that Watt stands in, if it is there. */
export async function findWatt(): Promise<string | undefined> {
  const found = await promisify(execFile)('which', ['wattpm']).catch(() => undefined)
  return found && join(realpathSync(found.stdout.trim()), '../../..')
}

/** Writes the package of an app into its folder, and `watt.json`: it listens where `HOST` and `PORT` of its environment say. */
export function writeWattApp(folder: string, schema: 'node/3.0.0' | 'next/3.54.0', workers: number, app: object): void {
  const server = { hostname: '{HOST}', port: '{PORT}' }
  const files = {
    'package.json': { type: 'module', ...app },
    'watt.json': {
      $schema: `https://schemas.platformatic.dev/@platformatic/${schema}.json`,
      runtime: { server, workers: { static: workers }, logger: { level: 'error' } },
    },
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(content))
}

/** A folder of an app whose module has a function as default export that makes it; `packages` is where Watt stands. */
export function wattFolder(packages: string, module: URL, workers: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'watt-'))
  // Watt looks for its packages from the app's folder on.
  symlinkSync(packages, join(folder, 'node_modules'))
  writeWattApp(folder, 'node/3.0.0', workers, { name: 'app', main: 'server.js' })
  writeFileSync(join(folder, 'server.js'), `export { default as create } from ${JSON.stringify(module)}\n`)
  return folder
}
