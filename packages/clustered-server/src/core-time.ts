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
  const thread = `/proc/${pid}/task/${pid}`
  try {
    const [nanoseconds] = readFileSync(`${thread}/schedstat`, 'utf8').split(' ')
    // The name before it may have any characters.
    const [, state] = readFileSync(`${thread}/stat`, 'utf8').split(/.*\) /s)
    return { ran: Number(nanoseconds) / 1e6, isRunnable: state!.startsWith('R') }
  } catch {
    return undefined
  }
}
