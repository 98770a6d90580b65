import { fork } from 'node:child_process'
import { once } from 'node:events'
import { errorCodes } from '../errors.ts'
import { siblingModule } from '../sibling-module.ts'
import { cleanEnvironment } from './git.ts'
import type { WorkspaceCommand, WorkspaceReport } from './workspace-messages.ts'

/** The end of a command: `status` is undefined when it succeeded. */
export interface CommandEnd {
  readonly status: string | undefined
  readonly output: string
}

/** A temporary folder that is removed with all worktrees in it, however this process ends. */
export interface Workspace {
  readonly folder: string
  /** Runs a program with arguments. No shell reads them. */
  run(directory: string, program: string, ...args: string[]): Promise<CommandEnd>
  /** Runs a command line of the configuration in a shell. */
  runLine(directory: string, commandLine: string): Promise<CommandEnd>
  /** Ends all commands and removes the folder. */
  close(): Promise<void>
}

export async function openWorkspace(repository: string, signal: AbortSignal): Promise<Workspace> {
  signal.throwIfAborted()
  const keeper = fork(siblingModule('./workspace-process', import.meta.url), [repository], {
    execArgv: [],
    env: cleanEnvironment(),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // Ctrl-C in a terminal must not reach it.
    detached: true,
  })
  const waiting = new Map<number, (end: CommandEnd) => void>()
  const ready = Promise.withResolvers<string>()
  const lost = Promise.withResolvers<never>()
  lost.promise.catch(() => {})
  keeper.on('message', (report: WorkspaceReport) => {
    if (report.type === 'ready') return ready.resolve(report.folder)
    if (report.type === 'failed') {
      ready.reject(noFolder(report.message))
      return keeper.disconnect()
    }
    waiting.get(report.id)?.(report)
    waiting.delete(report.id)
  })
  const exited = once(keeper, 'exit')
  void exited.then(() =>
    lost.reject(new errorCodes.SPEED_BOUNDS_CHECKOUT_FAILED('The process that keeps the worktrees was killed.')),
  )
  const aborted = rejectionOf(signal)
  let next = 0
  const send = async (command: Omit<WorkspaceCommand, 'id' | 'env'>): Promise<CommandEnd> => {
    signal.throwIfAborted()
    const id = next++
    const { promise, resolve } = Promise.withResolvers<CommandEnd>()
    waiting.set(id, resolve)
    keeper.send({ ...command, id, env: cleanEnvironment() } satisfies WorkspaceCommand)
    return Promise.race([promise, lost.promise, aborted])
  }
  return {
    folder: await Promise.race([ready.promise, lost.promise]),
    run: (cwd, program, ...args) => send({ program, args, cwd, shell: false }),
    runLine: (cwd, line) => send({ program: line, args: [], cwd, shell: true }),
    async close() {
      if (keeper.connected) keeper.disconnect()
      await exited
    },
  }
}

function noFolder(reason: string): Error {
  return new errorCodes.SPEED_BOUNDS_CHECKOUT_FAILED(
    `Cannot create a temporary folder (${reason}): set TMPDIR to a folder that you can write to.`,
  )
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  promise.catch(() => {})
  return promise
}
