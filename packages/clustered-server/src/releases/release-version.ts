import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { directoriesOf, isWithin } from './release-links.ts'

/** Version of an app, as far as its files tell it. */
export interface ReleaseVersion {
  /** From the closest `package.json` with a version. */
  readonly version: string | undefined
  /** Git commit from the closest file `REVISION`, as Capistrano and Deployer write it. */
  readonly revision: string | undefined
}

/**
 * Reads the version of an app.
 *
 * @param app path of the app's module, without symbolic links
 * @param root folder of the release, without symbolic links, if known
 */
export function readVersion(app: string, root: string | undefined): ReleaseVersion {
  const directories = directoriesOf(app)
  const home = directories.find((directory) => versionIn(directory) !== undefined)
  // A file of this name further up belongs to something else.
  const ends = [home, root].filter((end) => end !== undefined)
  const ofRelease = directories.filter((directory) => ends.some((end) => isWithin(directory, end)))
  return { version: home && versionIn(home), revision: first(ofRelease, revisionIn) }
}

function first(directories: readonly string[], search: (directory: string) => string | undefined): string | undefined {
  for (const directory of directories) {
    const found = search(directory)
    if (found !== undefined) return found
  }
  return undefined
}

function versionIn(directory: string): string | undefined {
  const text = contentOf(join(directory, 'package.json'))
  if (text === undefined) return undefined
  try {
    const { version } = JSON.parse(text) as { version?: unknown }
    return typeof version === 'string' && /^[\w.+-]{1,100}$/.test(version) ? version : undefined
  } catch {
    return undefined
  }
}

function revisionIn(directory: string): string | undefined {
  return /^[\da-f]{7,64}$/i.exec(contentOf(join(directory, 'REVISION'))?.trim() ?? '')?.[0]
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
