import type { ResolvedSubject } from '../options/resolved.ts'

/** A process of a subject that responds over HTTP. */
export interface RunningSubject {
  readonly subject: ResolvedSubject
  readonly pid: number
  readonly origin: string
  /** Aborts when the process ends unexpectedly. The error is its reason. */
  readonly died: AbortSignal
  /** Rejects with that error. */
  readonly untilDeath: Promise<never>
  /** Stops the whole process tree (SIGSTOP) until it is resumed or ended. Does nothing on Windows. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Ends the whole process tree: SIGTERM first, SIGKILL after `timeout` milliseconds, by default `stopTimeout`. */
  stop(timeout?: number): Promise<void>
}
