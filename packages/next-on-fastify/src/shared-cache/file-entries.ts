// Stores each entry of Next's cache in one file, which is replaced atomically. Next itself writes several files per page in
// place.

import { hash, randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import type { Version } from '../next/page-cache/cache-handler-types.ts'
import type { Entries, Entry, UNKNOWN } from './store-contract.ts'

/** Entries of one build, in a folder. */
export class FileEntries implements Entries {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  versionOf(key: string): string | undefined {
    return versionOf(this.#pathOf(key))
  }

  version(key: string, version: string | typeof UNKNOWN | undefined): Version {
    return new FileVersion(this.#pathOf(key), version)
  }

  async read(key: string): Promise<{ readonly entry: Entry; readonly bytes: number } | undefined> {
    try {
      const bytes = await readFile(this.#pathOf(key))
      return { entry: deserialize(bytes) as Entry, bytes: bytes.length }
    } catch {
      // It is missing, or was written by a Node with another format.
      return undefined
    }
  }

  async write(key: string, entry: Entry): Promise<void> {
    const path = this.#pathOf(key)
    const temporary = `${path}-${randomUUID()}`
    await mkdir(dirname(path), { recursive: true })
    try {
      await writeFile(temporary, serialize(entry))
      // Files that are written within a few milliseconds may share a time and reuse an inode. Only `versionOf` reads the
      // time.
      await utimes(temporary, Date.now() / 1000, Math.random() * 1e9)
      await rename(temporary, path)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  }

  #pathOf(key: string): string {
    const name = hash('sha256', key)
    return join(this.#folder, name.slice(0, 2), name.slice(2))
  }
}

/** The version of a file that was read, or of a missing one. */
class FileVersion implements Version {
  readonly #path: string
  readonly #version: string | typeof UNKNOWN | undefined

  constructor(path: string, version: string | typeof UNKNOWN | undefined) {
    this.#path = path
    this.#version = version
  }

  isCurrent(): boolean {
    return versionOf(this.#path) === this.#version
  }
}

function versionOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats && `${stats.ino}-${stats.size}-${stats.mtimeMs}`
}
