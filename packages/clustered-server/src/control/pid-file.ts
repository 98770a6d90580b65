import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCodes } from '../errors.ts'
import { ownUid } from './runtime-directory.ts'

const MAX_BYTES = 64

/** A file with the process id of a primary. */
export class PidFile {
  readonly #path: string

  private constructor(path: string) {
    this.#path = path
  }

  /**
   * Checks that the file can be written, and that it belongs to no running server.
   *
   * @param isRunning whether a process is a running primary
   * @throws CLUSTERED_SERVER_PID_FILE
   */
  static async check(path: string, isRunning: (pid: number) => Promise<boolean>): Promise<PidFile> {
    try {
      mkdirSync(dirname(path), { recursive: true })
    } catch (error) {
      throw fileError(path, `cannot create its directory: ${(error as NodeJS.ErrnoException).code}`, error)
    }
    const pid = existingPid(path)
    // A container that restarts gives the same number to its first process.
    if (pid !== undefined && pid !== process.pid && (await isRunning(pid)))
      throw fileError(path, `process ${pid} runs with it: stop that first, or use another file`)
    return new PidFile(path)
  }

  /**
   * Writes the process id of this process, and removes the file when the process ends.
   *
   * @throws CLUSTERED_SERVER_PID_FILE
   */
  write(): void {
    // A reader never sees half a file, and a symbolic link is replaced, not followed.
    const temporary = `${this.#path}.${randomBytes(6).toString('hex')}`
    try {
      writeFileSync(temporary, `${process.pid}\n`, { flag: 'wx', mode: 0o644 })
      renameSync(temporary, this.#path)
    } catch (error) {
      rmSync(temporary, { force: true })
      throw fileError(this.#path, (error as NodeJS.ErrnoException).code ?? String(error), error)
    }
    process.once('exit', () => this.remove())
  }

  /** Removes the file, unless another process has written it since. */
  remove(): void {
    try {
      if (readPid(this.#path) === process.pid) rmSync(this.#path, { force: true })
    } catch {
      // Its directory may have gone.
    }
  }
}

/** The number in a pid file; `undefined` when it contains none. */
export function readPid(path: string): number | undefined {
  // A pid file is small. Others are not read.
  if (statSync(path).size > MAX_BYTES) return undefined
  const text = readFileSync(path, 'utf8').trim()
  return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined
}

/** @throws CLUSTERED_SERVER_PID_FILE for a file that must not be replaced */
function existingPid(path: string): number | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return undefined
  if (!stats.isFile()) throw fileError(path, 'it is not a regular file: remove it, or use another path')
  if (![0, ownUid()].includes(stats.uid)) throw fileError(path, `it belongs to user ${stats.uid}: use another path`)
  let pid: number | undefined
  try {
    pid = readPid(path)
  } catch (error) {
    throw fileError(path, (error as NodeJS.ErrnoException).code ?? String(error), error)
  }
  // A mistaken path must not cost its file.
  if (pid === undefined && stats.size > 0) throw fileError(path, 'it contains something else: use another path')
  return pid
}

function fileError(path: string, reason: string, cause?: unknown): Error {
  return new errorCodes.CLUSTERED_SERVER_PID_FILE(`Cannot use pid file ${path}: ${reason}`, { cause })
}
