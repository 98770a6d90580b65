import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { ResolvedSubject } from '../options/resolved.ts'
import { siblingModule } from '../sibling-module.ts'
import type { RunningSubject } from './running-subject.ts'
import { type StartLimits, startSubject } from './start-subject.ts'
import { SupervisorChannel } from './supervisor-channel.ts'

/** Starts subjects. All of them end when it is closed, or when this process goes away. */
export interface Supervisor {
  start(subject: ResolvedSubject, limits: StartLimits): Promise<RunningSubject>
  /** For processes that do not respond over HTTP. */
  readonly channel: SupervisorChannel
  /** An ID for such a process. */
  nextId: () => string
  close(): Promise<void>
}

export async function openSupervisor(): Promise<Supervisor> {
  const child = fork(siblingModule('./supervisor-process', import.meta.url), {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: true,
  })
  await once(child, 'spawn')
  const channel = new SupervisorChannel(child)
  const running = new Set<RunningSubject>()
  let started = 0
  const nextId = (): string => String(started++)
  return {
    channel,
    nextId,
    async start(subject, limits) {
      limits.signal.throwIfAborted()
      const run = await startSubject(channel, nextId(), subject, limits)
      running.add(run)
      return run
    },
    async close() {
      await Promise.all([...running].map((run) => run.stop()))
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      channel.close()
      if (child.connected) child.disconnect()
      await exited
    },
  }
}
