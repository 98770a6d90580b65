// Node resolves symbolic links at its start: the working directory and `import.meta.url` are in a folder such as
// `releases/1`, even if the process was started by `current`. The way back is in what the process was started with.

import { lstatSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/** Usual name of the link to the current release: that of Capistrano, Deployer and others. */
const USUAL_NAME = 'current'

/** A symbolic link, and the path that it leads to now. */
interface Link {
  readonly path: string
  readonly target: string
}

/** The symbolic links by which a process was started. */
export class ReleaseLinks {
  readonly #links: readonly Link[]

  /**
   * Finds the links on the path of the app, in `$PWD` and in the path of the script, in this order. Without any that lead
   * to the app, looks for a link `current` beside the folders that contain the app.
   *
   * @param app path of the app's module
   */
  constructor(app: string, environment: NodeJS.ProcessEnv = process.env, script: string | undefined = process.argv[1]) {
    const given = [app, environment['PWD'], script].flatMap((path) => linksOn(path))
    const isFound = isLinked(app) || given.some(({ target }) => isWithin(app, target))
    this.#links = isFound ? given : [...given, ...usualLinks(app)]
  }

  /** The same path by way of the link that leads the closest to it; or the path itself. */
  through(path: string): string {
    const found = this.#links
      .filter(({ target }) => isWithin(path, target))
      .reduce<Link | undefined>(
        (best, link) => (best && best.target.length >= link.target.length ? best : link),
        undefined,
      )
    return found === undefined ? path : join(found.path, relative(found.target, path))
  }
}

/** Whether a path is that of a directory or within it. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep)
}

/** The directories that contain a path, the closest first. */
export function directoriesOf(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [] : [parent, ...directoriesOf(parent)]
}

/** Links to directories on a path. */
function linksOn(path: string | undefined): Link[] {
  if (path === undefined || !isAbsolute(path)) return []
  const absolute = resolve(path)
  return [absolute, ...directoriesOf(absolute)].flatMap((one) => linkAt(one) ?? [])
}

function usualLinks(app: string): Link[] {
  return directoriesOf(app)
    .filter((directory) => isTrusted(directory))
    .flatMap((directory) => linkAt(join(directory, USUAL_NAME)) ?? [])
    .filter(({ target }) => isWithin(app, target))
}

function linkAt(path: string): Link | undefined {
  try {
    if (!lstatSync(path).isSymbolicLink()) return undefined
    return { path, target: realpathSync(path) }
  } catch {
    // There is nothing, or the link leads nowhere.
    return undefined
  }
}

function isLinked(path: string): boolean {
  try {
    return realpathSync(path) !== path
  } catch {
    return false
  }
}

/** Whether only those who could replace the app anyway can create a link in a directory. In `/tmp` everyone can. */
function isTrusted(directory: string): boolean {
  if (process.platform === 'win32') return true
  try {
    const { mode } = statSync(directory)
    const [STICKY, WRITABLE_FOR_ALL] = [0o1000, 0o002]
    return (mode & (STICKY | WRITABLE_FOR_ALL)) === 0
  } catch {
    return false
  }
}
