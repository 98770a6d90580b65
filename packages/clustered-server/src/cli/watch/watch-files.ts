import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { isWatched, type WatchedFiles } from './watched-paths.ts'

/** Milliseconds without a change before changes are reported: an editor or a compiler writes several files. */
const QUIET_MS = 100

/** Reports changes of files, until the process ends. Watches each directory, so that ignored ones cost nothing. */
export class FileWatch {
  readonly #watched: WatchedFiles
  readonly #onChange: (paths: readonly string[]) => void
  readonly #onError: (error: Error) => void
  readonly #directories = new Map<string, FSWatcher>()
  readonly #changed = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(watched: WatchedFiles, onChange: (paths: readonly string[]) => void, onError: (error: Error) => void) {
    this.#watched = watched
    this.#onChange = onChange
    this.#onError = onError
    for (const path of watched.paths) {
      if (statSync(path).isDirectory()) this.#addTree(path)
      else this.#addFile(path)
    }
    for (const path of watched.always) this.#addFile(path)
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const watcher of this.#directories.values()) watcher.close()
    this.#directories.clear()
  }

  /** Editors replace files, so that only the directory sees each change. */
  #addFile(path: string): void {
    this.#add(dirname(path))
  }

  /** Returns the watched files in a tree that was not watched before. */
  #addTree(directory: string): string[] {
    if (this.#directories.has(directory) && !this.#watched.paths.includes(directory)) return []
    this.#add(directory)
    return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
      const path = join(directory, entry.name)
      if (!isWatched(path, entry.isDirectory(), this.#watched)) return []
      return entry.isDirectory() ? this.#addTree(path) : [path]
    })
  }

  #add(directory: string): void {
    if (this.#directories.has(directory)) return
    try {
      const watcher = watch(directory, (_event, name) => this.#look(join(directory, name ?? '')))
      this.#directories.set(directory, watcher)
      // The directory was removed.
      watcher.on('error', () => this.#remove(directory))
    } catch (error) {
      this.#onError(error as Error)
    }
  }

  #remove(directory: string): void {
    this.#directories.get(directory)?.close()
    this.#directories.delete(directory)
  }

  #look(path: string): void {
    const isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
    if (!isDirectory) this.#remove(path)
    if (!this.#isOurs(path) || !isWatched(path, isDirectory, this.#watched)) return
    for (const file of isDirectory ? this.#addTree(path) : [path]) this.#changed.add(file)
    if (this.#changed.size === 0) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      const changed = [...this.#changed]
      this.#changed.clear()
      this.#onChange(changed)
    }, QUIET_MS)
  }

  /** The directory of a single file has other files too. */
  #isOurs(path: string): boolean {
    const { paths, always } = this.#watched
    return always.includes(path) || paths.some((one) => path === one || path.startsWith(join(one, '/')))
  }
}
