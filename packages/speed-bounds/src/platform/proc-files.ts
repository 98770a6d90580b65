// Linux: the files of processes in /proc. See proc(5).

import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds. USER_HZ is 100 on every Linux that Node supports. */
export const TICK: number = 10

/** Whether the system counts the CPU of processes in nanoseconds. */
export const canReadProc: boolean =
  process.platform === 'linux' && (readText('/proc/self/schedstat')?.split(' ').length ?? 0) >= 2

/** Undefined if the process has ended. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

export function listDirectory(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
