import { lstatSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'

/** Removes the file of a UNIX socket that no process listens on, as a killed process leaves it. */
export async function removeStale(path: string): Promise<void> {
  if (isSocket(path) && (await isRefused(path))) unlinkSync(path)
}

function isSocket(path: string): boolean {
  // An abstract socket has no file.
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
    // Other errors, such as no permission or a full queue, prove nothing.
    socket.once('error', ({ code }: NodeJS.ErrnoException) => end(code === 'ECONNREFUSED'))
  })
}
