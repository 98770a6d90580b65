// Entries of Next's cache in files, one for each: it is written beside and takes its place whole, so that nobody reads a
// part of it. Next's own files are several for one page, and are written in place.

import { hash, randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import type { Lifetime, Version } from '../../next/page-reads.ts'

/** An entry, and what it was made of. */
export interface Entry {
  readonly key: string
  /** Which making it came of: two of one millisecond have nothing else that tells them apart. */
  readonly making: string
  /** The position in the log of changes when its making began. */
  readonly since: number
  /** When that was: milliseconds since 1970. */
  readonly begunAt: number
  readonly lastModified: number
  readonly cacheControl: Lifetime | undefined
  readonly value: unknown
}

/** Nobody knows whether an entry is there, or the same, without asking for it. */
export const UNTOLD: unique symbol = Symbol('untold')

/** Where entries are. */
export interface Entries {
  /** It is another one when the entry is; there is none where there is no entry. */
  versionOf(key: string): string | typeof UNTOLD | undefined
  /** What tells whether a version is still there, if that can be told. */
  version(key: string, version: string | typeof UNTOLD | undefined): Version | undefined
  /** An entry, and how many bytes it has. */
  read(key: string): Promise<{ readonly entry: Entry; readonly bytes: number } | undefined>
  write(key: string, entry: Entry): Promise<void>
}

/** Entries of one build, in a folder. */
export class EntryFolder implements Entries {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  versionOf(key: string): string | undefined {
    return versionOf(this.#pathOf(key))
  }

  version(key: string, version: string | typeof UNTOLD | undefined): Version {
    return new FileVersion(this.#pathOf(key), version)
  }

  async read(key: string): Promise<{ readonly entry: Entry; readonly bytes: number } | undefined> {
    try {
      const bytes = await readFile(this.#pathOf(key))
      return { entry: deserialize(bytes) as Entry, bytes: bytes.length }
    } catch {
      // There is none, or it was written by a Node that has other formats.
      return undefined
    }
  }

  async write(key: string, entry: Entry): Promise<void> {
    const path = this.#pathOf(key)
    const beside = `${path}-${randomUUID()}`
    await mkdir(dirname(path), { recursive: true })
    try {
      await writeFile(beside, serialize(entry))
      // The system gives files that are written within some milliseconds one time, and the number of a file again when it
      // is free. Nobody reads the time but `versionOf`.
      await utimes(beside, Date.now() / 1000, Math.random() * 1e9)
      await rename(beside, path)
    } catch (error) {
      await rm(beside, { force: true })
      throw error
    }
  }

  #pathOf(key: string): string {
    const name = hash('sha256', key)
    return join(this.#folder, name.slice(0, 2), name.slice(2))
  }
}

/** The file that was read, or that there was none. */
class FileVersion implements Version {
  readonly #path: string
  readonly #version: string | typeof UNTOLD | undefined

  constructor(path: string, version: string | typeof UNTOLD | undefined) {
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
