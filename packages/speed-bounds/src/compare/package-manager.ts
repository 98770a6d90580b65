import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { errorCodes } from '../errors.ts'

type Name = 'npm' | 'pnpm' | 'yarn'

/** Package managers by their lockfile. */
const LOCKFILES: Readonly<Record<string, Name>> = {
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
}

/** An install that does not change the lockfile, and the folder it runs in. */
export interface FrozenInstall {
  readonly directory: string
  readonly lockfile: string
  readonly command: readonly [Name, ...string[]]
}

interface Manifest {
  packageManager?: unknown
  dependencies?: object
  devDependencies?: object
}

/**
 * The install of a folder within a checkout, by the nearest lockfile. Undefined if its packages have no dependencies.
 *
 * @throws SpeedBoundsError when there is no lockfile, or more than one
 */
export function frozenInstall(directory: string, checkout: string, ref: string): FrozenInstall | undefined {
  let hasDependencies = false
  for (let folder = directory; ; folder = dirname(folder)) {
    const manifest = readManifest(folder, checkout, ref)
    hasDependencies ||= [manifest.dependencies, manifest.devDependencies].some(
      (names) => Object.keys(names ?? {}).length > 0,
    )
    const lockfile = lockfileOf(folder, manifest, ref)
    if (lockfile !== undefined) {
      return { directory: folder, lockfile, command: commandOf(LOCKFILES[lockfile]!, folder, lockfile) }
    }
    if (folder === checkout) break
  }
  if (!hasDependencies) return undefined
  throw new errorCodes.SPEED_BOUNDS_INSTALL_FAILED(
    `${ref} has dependencies and no lockfile: commit a lockfile of npm, pnpm or yarn, or set "install" in the configuration.`,
  )
}

function lockfileOf(folder: string, { packageManager }: Manifest, ref: string): string | undefined {
  const found = Object.keys(LOCKFILES).filter((name) => existsSync(join(folder, name)))
  const [declared] = typeof packageManager === 'string' ? packageManager.split('@') : []
  const fitting = found.filter((name) => LOCKFILES[name] === declared)
  const candidates = fitting.length > 0 ? fitting : found
  if (new Set(candidates.map((name) => LOCKFILES[name])).size <= 1) return candidates[0]
  throw new errorCodes.SPEED_BOUNDS_INSTALL_FAILED(
    `${ref} has ${candidates.join(' and ')}: remove one, or set "packageManager" in package.json.`,
  )
}

function commandOf(name: Name, folder: string, lockfile: string): FrozenInstall['command'] {
  if (name === 'npm') return ['npm', 'ci', '--no-audit', '--no-fund']
  if (name === 'pnpm') return ['pnpm', 'install', '--frozen-lockfile']
  // Lockfiles of Yarn 1 begin with such a comment, later ones have an entry for their format.
  const isClassic = !/^__metadata:/m.test(readFileSync(join(folder, lockfile), 'utf8'))
  return ['yarn', 'install', isClassic ? '--frozen-lockfile' : '--immutable']
}

function readManifest(folder: string, checkout: string, ref: string): Manifest {
  const path = join(folder, 'package.json')
  if (!existsSync(path)) return {}
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Manifest
  } catch (error) {
    throw new errorCodes.SPEED_BOUNDS_INSTALL_FAILED(
      `The ${relative(checkout, path)} of ${ref} is not valid JSON: ${(error as Error).message}`,
      { cause: error },
    )
  }
}
