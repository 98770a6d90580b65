// Starts the subjects in a process that outlives the race by a moment. When the channel to the race closes, for any
// reason (an error, Ctrl-C, SIGKILL), it ends every subject. So no subject is left behind.

import { type ChildProcess, type Serializable, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { listTree, signalTree } from '../platform/process-tree.ts'
import type { SupervisorCommand, SupervisorReport } from './supervisor-messages.ts'

/** Variable that marks every process of a subject, even if it left its session and its parent. */
const MARK = 'SPEED_BOUNDS_SUBJECT'
const MAX_STDERR = 8192
/** Milliseconds between two checks whether a subject has ended. */
const POLL_INTERVAL = 20
/** A process that the kernel does not end within this time (ms) after SIGKILL hangs in a system call. */
const KILL_TIMEOUT = 5000

const subjects = new Map<string, { child: ChildProcess; stderr: string; mark: string }>()

process.on('message', (command: SupervisorCommand) => {
  if (command.type === 'start') start(command)
  else if (command.type === 'tail')
    report({ type: 'tail', id: command.id, stderr: subjects.get(command.id)?.stderr ?? '' })
  else void end(command.id, command.timeout).then(() => report({ type: 'stopped', id: command.id }))
})
process.once('disconnect', () => {
  void Promise.all([...subjects.keys()].map((id) => end(id, 0))).finally(() => process.exit())
})

function start({ id, command: [program, ...args], env, cwd, job }: SupervisorCommand & { type: 'start' }): void {
  const mark = `${process.pid}-${id}`
  const child = spawn(program, args, {
    cwd,
    env: { ...env, [MARK]: mark },
    // Discarded output costs every subject the same, and no log can fill a disk or block on a pipe.
    stdio: ['ignore', 'ignore', 'pipe', ...(job === undefined ? [] : ['ipc' as const])],
    // Its own session (POSIX), so that the whole tree can be found and signaled.
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  const subject = { child, stderr: '', mark }
  subjects.set(id, subject)
  if (job !== undefined) {
    child.on('message', (message) => report({ type: 'message', id, message }))
    child.send(job as Serializable, () => {})
  }
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    subject.stderr = (subject.stderr + text).slice(-MAX_STDERR)
  })
  child.once('spawn', () => report({ type: 'started', id, pid: child.pid! }))
  child.once('error', (error) => {
    if (child.pid === undefined) report({ type: 'failed', id, message: error.message })
  })
  // Not 'close': it never comes while a grandchild holds the pipe open.
  child.once('exit', (code, killer) => {
    const reportExit = (): void =>
      report({ type: 'exited', id, status: killer ? `by ${killer}` : `with code ${code}`, stderr: subject.stderr })
    if (child.stderr!.readableEnded) return reportExit()
    const timer = setTimeout(reportExit, 200)
    child.stderr!.once('end', () => {
      clearTimeout(timer)
      reportExit()
    })
  })
}

async function end(id: string, timeout: number): Promise<void> {
  const { child, mark } = subjects.get(id) ?? {}
  if (child?.pid === undefined) {
    subjects.delete(id)
    return
  }
  const deadline = performance.now() + timeout
  let alive = await members(child.pid, mark!)
  if (timeout > 0) {
    signalTree(child.pid, alive, 'SIGTERM')
    // A paused process does not receive SIGTERM.
    if (process.platform !== 'win32') signalTree(child.pid, alive, 'SIGCONT')
  }
  while (alive.length > 0 && performance.now() < deadline + KILL_TIMEOUT) {
    if (performance.now() >= deadline) signalTree(child.pid, alive, 'SIGKILL')
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL))
    alive = await members(child.pid, mark!)
  }
  // Not earlier: if the race goes away meanwhile, this subject must be killed immediately.
  subjects.delete(id)
}

async function members(root: number, mark: string): Promise<number[]> {
  return [...new Set([...(await listTree(root)), ...marked(mark)])]
}

/** Linux only: /proc/<pid>/environ has the variables that a process was started with, even if its parent has changed. */
function marked(mark: string): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`${MARK}=${mark}`)
      } catch {
        return false
      }
    })
    .map(Number)
}

function report(message: SupervisorReport): void {
  // With a callback, a channel that is closing is no error: this process must live to end the other subjects.
  if (process.connected) process.send!(message, undefined, undefined, () => {})
}
