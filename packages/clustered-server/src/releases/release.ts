import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, parse } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { readVersion, type ReleaseVersion } from './release-version.ts'

/** Where the app is: its module and its working directory, by way of a link if there is one. */
export interface ReleasePlace {
  /** URL of the app's module. */
  readonly app: string
  /** `undefined` if the working directory is gone. */
  readonly cwd: string | undefined
}

/** The app as it is on disk, without symbolic links. */
export interface Release extends ReleaseVersion {
  /** URL of the app's module. */
  readonly app: string
  /** Path of the app's module. */
  readonly path: string
  /** Working directory of workers. */
  readonly cwd: string
}

/** Resolves the links that lead to an app. Never throws: a worker fails to import an app that does not exist. */
export function resolveRelease({ app, cwd }: ReleasePlace): Release {
  const url = new URL(app)
  const given = fileURLToPath(url)
  const path = realPath(given) ?? given
  const resolved = Object.assign(pathToFileURL(path), { search: url.search, hash: url.hash })
  const directory = dirname(path)
  return {
    app: resolved.href,
    path,
    cwd: (cwd !== undefined && realPath(cwd)) || (existsSync(directory) ? directory : parse(directory).root),
    ...readVersion(path, releaseRoot(given, path)),
  }
}

/** The folder that a link leads to: what a path and its real path have not in common at their end. */
function releaseRoot(given: string, path: string): string | undefined {
  let [link, root] = [given, path]
  while (dirname(root) !== root && realPath(dirname(link)) === dirname(root) && basename(link) === basename(root))
    [link, root] = [dirname(link), dirname(root)]
  return link === root || root === path ? undefined : root
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
