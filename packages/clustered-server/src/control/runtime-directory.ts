import { existsSync, lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Environment variable with another directory for control sockets. */
const RUNTIME_DIR = 'CLUSTERED_SERVER_RUNTIME_DIR'

/** Whether this platform has users by number, and UNIX sockets that a directory protects. */
export const hasControlSockets: boolean = process.platform !== 'win32'

/**
 * Directory of the control sockets of a user. Neither TMPDIR nor XDG_RUNTIME_DIR counts: a service and a shell often have
 * different ones.
 */
export function runtimeDirectory(uid: number = ownUid()): string {
  const given = process.env[RUNTIME_DIR]
  return given || join(existsSync('/tmp') ? '/tmp' : tmpdir(), `clustered-server-${uid}`)
}

/**
 * Creates the directory of this user if it is missing.
 *
 * @throws Error when others could use it
 */
export function createRuntimeDirectory(): string {
  const directory = runtimeDirectory()
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  assertPrivate(directory)
  return directory
}

/**
 * Checks that only one user can create and open sockets in a directory. In a shared directory such as `/tmp`, another
 * user may have created it first.
 *
 * @throws Error
 */
export function assertPrivate(directory: string, uid: number = ownUid()): void {
  const { mode, uid: owner, ...stats } = statsOf(directory)
  if (!stats.isDirectory) throw new Error(`${directory} is not a directory: remove it, or set ${RUNTIME_DIR}`)
  if (owner !== uid) throw new Error(`${directory} belongs to user ${owner}, not to ${uid}: set ${RUNTIME_DIR}`)
  if ((mode & 0o077) !== 0) throw new Error(`${directory} is open to other users: run chmod 700 ${directory}`)
}

export function ownUid(): number {
  return process.getuid?.() ?? 0
}

function statsOf(path: string): { mode: number; uid: number; isDirectory: boolean } {
  // A symbolic link is none: its target may change.
  const stats = lstatSync(path)
  return { mode: stats.mode, uid: stats.uid, isDirectory: stats.isDirectory() }
}
