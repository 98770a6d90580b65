import { readFileSync } from 'node:fs'

/** What a process has had of the cores. */
export interface CoreTime {
  /** Milliseconds that it ran, since its start. */
  readonly ran: number
  /** Whether it would go on now if it had a core: it does, or waits for one. */
  readonly isRunnable: boolean
}

/** Linux tells it of each thread, and this is of the one that runs the event loop; nobody tells it elsewhere. */
export function coreTime(pid: number): CoreTime | undefined {
  try {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')
    const state = stateOf(pid)
    return state === undefined ? undefined : { ran: Number(nanoseconds) / 1e6, isRunnable: state === 'R' }
  } catch {
    return undefined
  }
}

/** The letter by which Linux tells what the first thread of a process does: `R` where it runs or would, `Z` where it has ended. */
export function stateOf(pid: number): string | undefined {
  try {
    // The name before it may have any characters.
    const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')
    return stat[stat.lastIndexOf(')') + 2]
  } catch {
    return undefined
  }
}
