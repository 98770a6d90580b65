// A deployment may delete or replace the folder of this package while its primary runs. Workers need the code of that
// primary to understand each other, so the primary keeps it in memory, and writes it to a private folder if it must.

import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Logger } from '../options/types.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const EXTENSION = extname(import.meta.filename)
/** All modules that a worker loads: see `test/live/release-folders.test.ts`. */
const FOLDERS = ['app', 'connections', 'ipc', 'platform', 'worker']
const FILES = [`errors${EXTENSION}`, join('observability', `prom-client${EXTENSION}`)]
const MANIFEST = 'package.json'

/** The modules of a worker. */
export class WorkerCode {
  /** Contents by path. */
  readonly #files: ReadonlyMap<string, Buffer>
  readonly #logger: Logger | undefined
  /** A private folder with the modules. */
  #copy: string | undefined
  readonly #remove = (): void => {
    if (this.#copy !== undefined) rmSync(this.#copy, { recursive: true, force: true })
  }

  constructor(logger: Logger | undefined) {
    this.#logger = logger
    const inFolders = FOLDERS.flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => join(folder, name)))
    const paths = [...FILES, ...inFolders].filter((path) => extname(path) === EXTENSION)
    this.#files = new Map(paths.map((path) => [path, readFileSync(join(ROOT, path))]))
  }

  /** URL of the module that a worker runs: in this package, or in a copy if the package has been deleted or replaced. */
  entry(): URL {
    return pathToFileURL(join(this.#intactRoot(), 'worker', `entry${EXTENSION}`))
  }

  /** Deletes the copy. */
  close(): void {
    process.off('exit', this.#remove)
    this.#remove()
  }

  #intactRoot(): string {
    if (this.#isIntact(ROOT)) return ROOT
    // Programs that clean up temporary folders may have deleted some of the files.
    if (this.#copy !== undefined && isOwn(this.#copy) && this.#isIntact(this.#copy)) return this.#copy
    try {
      return this.#write()
    } catch (error) {
      const text = `clustered-server was deleted or replaced, and workers have no copy of it: ${(error as Error).message}`
      this.#logger?.error({ err: error }, text)
      return ROOT
    }
  }

  #isIntact(root: string): boolean {
    try {
      return [...this.#files].every(([path, content]) => content.equals(readFileSync(join(root, path))))
    } catch {
      return false
    }
  }

  #write(): string {
    assertPrivate(tmpdir())
    this.close()
    // Readable by this user only, with a random name.
    const copy = mkdtempSync(join(tmpdir(), 'clustered-server-'))
    this.#copy = copy
    process.once('exit', this.#remove)
    writeFileSync(join(copy, MANIFEST), '{ "type": "module" }\n', { mode: 0o600 })
    for (const [path, content] of this.#files) {
      mkdirSync(dirname(join(copy, path)), { recursive: true, mode: 0o700 })
      writeFileSync(join(copy, path), content, { mode: 0o600 })
    }
    this.#logger?.warn(
      { copy },
      `clustered-server was deleted or replaced: until a restart, workers use a copy in ${copy}`,
    )
    return copy
  }
}

/** Whether a folder is still ours: where one was deleted, another user may have created one of the same name. */
function isOwn(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return false
  return process.platform === 'win32' || (found.uid === process.geteuid!() && (found.mode & 0o077) === 0)
}

/** @throws Error when another user may rename the folders in a directory, and so replace the code in them */
function assertPrivate(directory: string): void {
  if (process.platform === 'win32') return
  const { uid, mode } = statSync(directory)
  const [STICKY, WRITABLE_FOR_ALL] = [0o1000, 0o002]
  const isForeign = uid !== 0 && uid !== process.geteuid!()
  if (isForeign || ((mode & WRITABLE_FOR_ALL) !== 0 && (mode & STICKY) === 0))
    throw new Error(`${directory} lets other users replace its folders: set TMPDIR to a directory of your own`)
}
