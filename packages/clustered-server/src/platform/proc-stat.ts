import { readFileSync } from 'node:fs'

/** CPU time of a process. */
export interface CoreTime {
  /** CPU time since its start, in milliseconds. */
  readonly ran: number
  /** Whether it runs or waits for a core. */
  readonly isRunnable: boolean
}

/** Reads the CPU time of the main thread, which runs the event loop. Linux only. */
export function coreTime(pid: number): CoreTime | undefined {
  try {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')
    const state = stateOf(pid)
    return state === undefined ? undefined : { ran: Number(nanoseconds) / 1e6, isRunnable: state === 'R' }
  } catch {
    return undefined
  }
}

/** Reads the state of the main thread on Linux: `R` for running or runnable, `Z` for zombie. */
export function stateOf(pid: number): string | undefined {
  try {
    // The name before the state may contain any characters.
    const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')
    return stat[stat.lastIndexOf(')') + 2]
  } catch {
    return undefined
  }
}
