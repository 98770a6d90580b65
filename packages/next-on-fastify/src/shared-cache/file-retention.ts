// Limits the size of a folder of entries, which Next never removes. Keys may come from users, so they have no limit.

import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { outsideRequests } from '../async-context/outside-requests.ts'

/** A process checks the folder each time it has written this part of the limit. */
const CHECKED_SHARE = 1 / 16

/** A check removes the oldest files until this part of the limit is left. */
const KEPT_SHARE = 3 / 4

interface File {
  readonly path: string
  readonly bytes: number
  readonly writtenAt: number
}

/** The limit of one folder, which other processes write to as well. */
export class FileRetention {
  readonly #folder: string
  readonly #maxBytes: number
  #written = 0
  #checking: Promise<void> | undefined

  constructor(folder: string, maxBytes: number) {
    this.#folder = folder
    this.#maxBytes = maxBytes
    // Files of processes that have ended count, too.
    this.#written = maxBytes
  }

  /** Records that a file was written. Resolves at the end of a check, if one has begun. */
  async wrote(bytes: number): Promise<void> {
    this.#written += bytes
    if (this.#written < this.#maxBytes * CHECKED_SHARE) return
    this.#written = 0
    this.#checking ??= outsideRequests(() => this.#check()).finally(() => {
      this.#checking = undefined
    })
    await this.#checking
  }

  async #check(): Promise<void> {
    const files = (await filesIn(this.#folder)).toSorted((one, other) => one.writtenAt - other.writtenAt)
    let total = files.reduce((sum, { bytes }) => sum + bytes, 0)
    if (total <= this.#maxBytes) return
    for (const { path, bytes } of files) {
      if (total <= this.#maxBytes * KEPT_SHARE) return
      await rm(path, { force: true })
      total -= bytes
    }
  }
}

async function filesIn(folder: string): Promise<File[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files: File[] = []
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    // Another process may have removed it.
    const stats = await stat(path).catch(() => undefined)
    // Its other times do not tell: see file-entries.ts.
    if (stats !== undefined) files.push({ path, bytes: stats.size, writtenAt: stats.ctimeMs })
  }
  return files
}
