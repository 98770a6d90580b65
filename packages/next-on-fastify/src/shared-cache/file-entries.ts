// Stores each entry of Next's cache in one file, which is replaced atomically. Next itself writes several files per page in
// place.

import { hash, randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import type { Version } from '../next/page-cache/cache-handler-types.ts'
import { FileRetention } from './file-retention.ts'
import type { Entries, Entry, UNKNOWN } from './store-contract.ts'

/** Entries of one build, in a folder. */
export class FileEntries implements Entries {
  readonly #folder: string
  readonly #retention: FileRetention | undefined

  /** @param maxBytes - of all files; without a limit by default */
  constructor(folder: string, maxBytes?: number) {
    this.#folder = folder
    this.#retention = maxBytes === undefined ? undefined : new FileRetention(folder, maxBytes)
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
    const bytes = serialize(entry)
    await mkdir(dirname(path), { recursive: true })
    try {
      await writeFile(temporary, bytes)
      // Files that are written within a few milliseconds may share a time and reuse an inode. Only `versionOf` reads the
      // time.
      await utimes(temporary, Date.now() / 1000, Math.random() * 1e9)
      await rename(temporary, path)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
    // Next waits for the write, but not for this.
    this.#retention?.wrote(bytes.length).catch(() => {})
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
