import { lstatSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'

/** Removes the file of a UNIX socket on which no process listens, as one that was killed leaves it behind. */
export async function removeStale(path: string): Promise<void> {
  if (isSocket(path) && (await isRefused(path))) unlinkSync(path)
}

function isSocket(path: string): boolean {
  // An abstract one has no file.
  if (path.startsWith('\0')) return false
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false
}

function isRefused(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const end = (refused: boolean): void => {
      socket.destroy()
      resolve(refused)
    }
    socket.once('connect', () => end(false))
    // Who has no permission, or finds the queue full, does not know.
    socket.once('error', ({ code }: NodeJS.ErrnoException) => end(code === 'ECONNREFUSED'))
  })
}
