// Locks in files, for the processes of one machine.

import { hash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LEASE, type Lock, type Locks } from './store-contract.ts'

/** Locks in a folder: who creates the file of a lock has it, until it was not extended for a while. */
export class FileLocks implements Locks {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  async acquire(key: string): Promise<Lock | undefined> {
    const path = join(this.#folder, hash('sha256', key))
    const token = randomUUID()
    await mkdir(this.#folder, { recursive: true })
    const isOwn = (await create(path, token)) || ((await removeExpired(path, token)) && (await create(path, token)))
    return isOwn ? new FileLock(path, token) : undefined
  }
}

class FileLock implements Lock {
  readonly #path: string
  readonly #token: string

  constructor(path: string, token: string) {
    this.#path = path
    this.#token = token
  }

  async extend(): Promise<void> {
    const now = new Date()
    if (await this.#isOwn()) await utimes(this.#path, now, now)
  }

  async release(): Promise<void> {
    if (await this.#isOwn()) await rm(this.#path, { force: true })
  }

  /** Whether no other process has taken it meanwhile. */
  async #isOwn(): Promise<boolean> {
    return (await readFile(this.#path, 'utf8').catch(() => undefined)) === this.#token
  }
}

/** Creates a file, unless it exists. */
async function create(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx' })
    return true
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false
    // A full disk may have room for an empty file.
    await rm(path, { force: true }).catch(() => {})
    throw error
  }
}

/**
 * Removes the lock of a process that has died. Of several processes, one moves the file away. A process that moves away the
 * next lock by a delay of its own costs a second transform, and nothing else.
 */
async function removeExpired(path: string, token: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path)
    // The clock may have been set back since.
    if (Math.abs(Date.now() - mtimeMs) < LEASE) return false
    const moved = `${path}-${token}`
    await rename(path, moved)
    await rm(moved, { force: true })
    return true
  } catch (error) {
    // It was released, or another process was faster.
    if (isCode(error, 'ENOENT')) return true
    throw error
  }
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code
}
