import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { arch, availableParallelism, cpus, release, totalmem, type as systemType } from 'node:os'
import { pathToFileURL } from 'node:url'
import type { ResolvedSubject } from '../options/resolved.ts'

/** Machine and versions of a race. */
export interface Environment {
  readonly cpu: string
  /** Cores that this process may use. */
  readonly cores: number
  readonly memory: number
  readonly system: string
  readonly arch: string
  readonly node: string
  /** Commit of the working directory, with `+` if files have changed since. */
  readonly commit: string | null
  readonly ci: boolean
  /** Installed versions of the subjects' dependencies, of this package and of its generator. */
  readonly packages: Readonly<Record<string, string>>
}

interface Manifest {
  name?: string
  version?: string
  dependencies?: Record<string, string>
}

export function readEnvironment(subjects: readonly ResolvedSubject[], cwd: string): Environment {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memory: totalmem(),
    system: `${systemType()} ${release()}`,
    arch: arch(),
    node: process.version,
    commit: readCommit(cwd),
    ci: Boolean(process.env['CI']),
    packages: Object.fromEntries(Object.entries(readPackages(subjects)).toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}

function readCommit(cwd: string): string | null {
  try {
    const git = (...args: string[]): string =>
      execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    return git('rev-parse', '--short=12', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '+')
  } catch {
    return null
  }
}

function readPackages(subjects: readonly ResolvedSubject[]): Record<string, string> {
  const versions: Record<string, string> = {}
  const add = (name: string, manifest: Manifest | undefined): void => {
    if (manifest?.version) versions[name] = manifest.version
  }
  add('speed-bounds', readManifest('..', import.meta.url))
  add('autocannon', readManifest('autocannon', import.meta.url))
  for (const { file } of subjects) {
    if (!file) continue
    const base = pathToFileURL(file)
    const dependencies = readManifest('.', base)?.dependencies ?? {}
    for (const name of Object.keys(dependencies)) add(name, readManifest(name, base))
  }
  return versions
}

/** The nearest package.json of a path, or that of an installed package. */
function readManifest(specifier: string, base: string | URL): Manifest | undefined {
  try {
    const path = findPackageJSON(specifier, base)
    return path === undefined ? undefined : (JSON.parse(readFileSync(path, 'utf8')) as Manifest)
  } catch {
    return undefined
  }
}
