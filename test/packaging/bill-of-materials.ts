// Writes the documents that a release attaches: a CycloneDX SBOM of each package, and the licenses of all dependencies.
// `node test/packaging/bill-of-materials.ts <folder>` fails if a license is not allowed.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { markdownTable } from 'markdown-table'
import { demand, pnpm } from './tarball.ts'
import { ROOT } from './workspace-copy.ts'

/** What users install with our packages. */
const PRODUCTION = ['--filter', './packages/*', '--prod'] as const

/** SPDX names. These licenses allow any use, and want no more than their text in return. */
const ALLOWED: ReadonlySet<string> = new Set([
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT', 'Zlib'],
])

export interface Dependency {
  readonly name: string
  readonly versions: readonly string[]
  readonly license: string
}

/** Whether all licenses of an SPDX expression are allowed. A choice (`OR`) is not: someone has to make it. */
export function isAllowed(license: string): boolean {
  const [, inner = license] = /^\((.*)\)$/.exec(license) ?? []
  return inner.split(' AND ').every((name) => ALLOWED.has(name))
}

export async function productionDependencies(): Promise<Dependency[]> {
  const { stdout } = await demand(ROOT, [...pnpm(), ...PRODUCTION, 'licenses', 'list', '--json'])
  const byLicense = JSON.parse(stdout) as Record<string, Dependency[]>
  return Object.values(byLicense)
    .flat()
    .toSorted((one, other) => one.name.localeCompare(other.name))
}

/** Writes the documents. Returns the dependencies whose licenses are not allowed. */
export async function writeDocuments(folder: string): Promise<string[]> {
  mkdirSync(folder, { recursive: true })
  // 1.6: not all tools read 1.7 yet.
  const format = ['--sbom-format', 'cyclonedx', '--sbom-spec-version', '1.6', '--exclude-peers'] as const
  await demand(ROOT, [...pnpm(), ...PRODUCTION, 'sbom', ...format, '--split', '--out', join(folder, '%s-%v.cdx.json')])
  const dependencies = await productionDependencies()
  const rows = dependencies.map(({ name, versions, license }) => [name, versions.join(', '), license])
  writeFileSync(join(folder, 'licenses.md'), `${markdownTable([['package', 'versions', 'license'], ...rows])}\n`)
  return dependencies.filter(({ license }) => !isAllowed(license)).map(({ name, license }) => `${name}: ${license}`)
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2)
  if (folder === undefined) throw new Error('Usage: node test/packaging/bill-of-materials.ts <folder>')
  const rejected = await writeDocuments(resolve(folder))
  for (const line of rejected) console.error(`License not allowed: ${line}`)
  if (rejected.length > 0) process.exitCode = 1
}
