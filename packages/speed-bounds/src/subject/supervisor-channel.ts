import type { ChildProcess } from 'node:child_process'
import { errorCodes, type SpeedBoundsError } from '../errors.ts'
import type { ReportOf, SupervisorCommand, SupervisorReport } from './supervisor-messages.ts'

/** Sends commands to the supervisor, and passes each of its reports to the listeners of that subject. */
export class SupervisorChannel {
  readonly #supervisor: ChildProcess
  readonly #listeners = new Map<string, ((report: never) => void)[]>()
  readonly #onLost = new Set<(error: SpeedBoundsError) => void>()
  #lost: SpeedBoundsError | undefined

  constructor(supervisor: ChildProcess) {
    this.#supervisor = supervisor
    supervisor.on('message', (report: SupervisorReport) => {
      for (const listener of this.#listeners.get(`${report.id} ${report.type}`) ?? []) listener(report as never)
    })
    supervisor.once('exit', (code, signal) => {
      const error = new errorCodes.SPEED_BOUNDS_SUPERVISOR_LOST(
        `The process that supervises the subjects ended unexpectedly (${signal ?? `code ${code}`}).`,
      )
      this.#lost = error
      for (const listener of this.#onLost) listener(error)
    })
  }

  on<T extends SupervisorReport['type']>(id: string, type: T, listener: (report: ReportOf<T>) => void): void {
    const key = `${id} ${type}`
    this.#listeners.set(key, [...(this.#listeners.get(key) ?? []), listener])
  }

  next<T extends SupervisorReport['type']>(id: string, ...types: T[]): Promise<ReportOf<T>> {
    return new Promise((resolve, reject) => {
      for (const type of types) this.on(id, type, resolve)
      this.onLost(reject)
    })
  }

  onLost(listener: (error: SpeedBoundsError) => void): void {
    if (this.#lost) listener(this.#lost)
    else this.#onLost.add(listener)
  }

  /** From now on, the end of the supervisor is expected. */
  close(): void {
    this.#onLost.clear()
  }

  send(command: SupervisorCommand): void {
    // The exit event reports a supervisor that is gone.
    if (this.#supervisor.connected) this.#supervisor.send(command, () => {})
  }
}
