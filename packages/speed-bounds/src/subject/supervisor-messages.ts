interface StartCommand {
  type: 'start'
  id: string
  command: readonly [string, ...string[]]
  env: Record<string, string>
  cwd: string
  /** First message to the process, over a channel on which it can report. Without it, there is no channel. */
  job?: unknown
}

/** From the race to the supervisor. */
export type SupervisorCommand =
  | StartCommand
  | { type: 'stop'; id: string; timeout: number }
  | { type: 'tail'; id: string }

/** From the supervisor to the race. `stderr` is the last 8 KiB. */
export type SupervisorReport =
  | { type: 'started'; id: string; pid: number }
  | { type: 'failed'; id: string; message: string }
  | { type: 'exited'; id: string; status: string; stderr: string }
  | { type: 'tail'; id: string; stderr: string }
  | { type: 'message'; id: string; message: unknown }
  | { type: 'stopped'; id: string }

export type ReportOf<T extends SupervisorReport['type']> = Extract<SupervisorReport, { type: T }>
