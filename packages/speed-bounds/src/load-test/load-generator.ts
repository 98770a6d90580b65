import { fork } from 'node:child_process'
import { once } from 'node:events'
import { errorCodes } from '../errors.ts'
import { siblingModule } from '../sibling-module.ts'
import type { RatePlan } from './arrivals.ts'
import type { JobRecord, LoadCommand, LoadMessage, LoadTarget } from './load-messages.ts'
import type { UserPlan } from './run-users.ts'

/** A load of one or more phases. */
export type Job = { readonly rate: RatePlan } | { readonly users: UserPlan }

/** The generator in its own process. */
export interface LoadGenerator {
  readonly pid: number
  /** Runs a job, and calls `onPhase` at the beginning of each phase. Jobs run one after the other. */
  run(job: Job, signal: AbortSignal, onPhase: (phase: number) => void): Promise<JobRecord>
  close(): Promise<void>
}

/** Starts the process. It ends by itself when this process goes away. */
export async function openLoadGenerator(target: LoadTarget): Promise<LoadGenerator> {
  const child = fork(siblingModule('./load-process', import.meta.url), {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: true,
  })
  await once(child, 'spawn')
  const send = (command: LoadCommand): void => {
    // The exit event reports a process that is gone.
    if (child.connected) child.send(command, () => {})
  }
  const exited = once(child, 'exit')
  const lost = exited.then((): never => {
    const how = child.signalCode ?? `code ${child.exitCode}`
    throw new errorCodes.SPEED_BOUNDS_GENERATOR_FAILED(`The generator's process ended unexpectedly (${how}).`)
  })
  // After the last job, its end is expected.
  lost.catch(() => {})
  send({ target })
  let jobs = 0
  return {
    pid: child.pid!,
    async run(job, signal, onPhase) {
      signal.throwIfAborted()
      const id = jobs++
      const { promise, resolve, reject } = Promise.withResolvers<JobRecord>()
      const onAbort = (): void => reject(signal.reason as Error)
      const onMessage = (message: LoadMessage): void => {
        if (message.id !== id) return
        if ('begun' in message) onPhase(message.begun)
        else if ('done' in message) resolve(message.done)
        else reject(new errorCodes.SPEED_BOUNDS_GENERATOR_FAILED(`The generator of the load failed: ${message.error}`))
      }
      signal.addEventListener('abort', onAbort, { once: true })
      child.on('message', onMessage)
      send({ id, ...job })
      return Promise.race([promise, lost]).finally(() => {
        child.off('message', onMessage)
        signal.removeEventListener('abort', onAbort)
      })
    },
    async close() {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}
