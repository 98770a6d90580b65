import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntimeDirectory } from '../control/runtime-directory.ts'
import { errorCodes } from '../errors.ts'

/** Maximum length of the path of a UNIX socket on all systems, in bytes. */
const MAX_PATH = 103

/** Private sockets by which workers forward requests to each other. */
export class BuildSockets {
  readonly #folder: string
  readonly #remove = (): void => rmSync(this.#folder, { recursive: true, force: true })

  /** @throws CLUSTERED_SERVER_START_FAILED when there is no private folder for them */
  constructor() {
    try {
      // Readable by this user only, with a random name.
      this.#folder = mkdtempSync(join(createRuntimeDirectory(), 'builds-'))
    } catch (error) {
      const text = `The option "linger" needs a private folder: ${(error as Error).message}`
      throw new errorCodes.CLUSTERED_SERVER_START_FAILED(text, { cause: error })
    }
    process.once('exit', this.#remove)
    const longest = this.of(Number.MAX_SAFE_INTEGER)
    if (Buffer.byteLength(longest) <= MAX_PATH) return
    this.close()
    const text = `The option "linger" needs sockets with shorter paths than ${longest}: set CLUSTERED_SERVER_RUNTIME_DIR`
    throw new errorCodes.CLUSTERED_SERVER_START_FAILED(text)
  }

  /** Path of the socket of a worker. */
  of(id: number): string {
    return join(this.#folder, `${id}.sock`)
  }

  close(): void {
    process.off('exit', this.#remove)
    this.#remove()
  }
}
