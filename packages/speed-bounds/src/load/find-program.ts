import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Whether a program is on PATH. */
export function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
