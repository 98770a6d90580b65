// The process that starts the subjects and outlives whoever asked for them by a moment: when the
// channel to the runner closes, for whatever reason (an error, Ctrl-C, SIGKILL), it ends every
// subject. That is why no subject is ever left behind.

import { spawn, type ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { listTree, signalTree } from './process-tree.ts'

/** What the runner asks of the warden. */
export type WardenRequest =
  | { type: 'start'; id: string; command: readonly [string, ...string[]]; env: Record<string, string>; cwd: string }
  | { type: 'stop'; id: string; timeout: number }
  | { type: 'tail'; id: string }

/** What the warden tells the runner. `stderr` is the last 8 KiB. */
export type WardenReport =
  | { type: 'started'; id: string; pid: number }
  | { type: 'failed'; id: string; message: string }
  | { type: 'exited'; id: string; status: string; stderr: string }
  | { type: 'tail'; id: string; stderr: string }
  | { type: 'stopped'; id: string }

/** Marks every process of a subject, also one that left its session and its parent. */
const MARK = 'SPEED_BOUNDS_SUBJECT'
const STDERR_KEPT = 8192
const POLL = 20 // ms
/** A process that the kernel does not end within this time after SIGKILL hangs in a system call. */
const KILL_PATIENCE = 5000

const subjects = new Map<string, { child: ChildProcess; stderr: string; mark: string }>()

process.on('message', (request: WardenRequest) => {
  if (request.type === 'start') start(request)
  else if (request.type === 'tail')
    report({ type: 'tail', id: request.id, stderr: subjects.get(request.id)?.stderr ?? '' })
  else void end(request.id, request.timeout).then(() => report({ type: 'stopped', id: request.id }))
})
process.once('disconnect', () => {
  void Promise.all([...subjects.keys()].map((id) => end(id, 0))).finally(() => process.exit())
})

function start({ id, command: [program, ...args], env, cwd }: WardenRequest & { type: 'start' }): void {
  const mark = `${process.pid}-${id}`
  const child = spawn(program, args, {
    cwd,
    env: { ...env, [MARK]: mark },
    // Output to nowhere costs every subject the same, and no log can fill a disk or block on a pipe.
    stdio: ['ignore', 'ignore', 'pipe'],
    // A session of its own (POSIX), so that the whole tree can be found and signalled.
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  const subject = { child, stderr: '', mark }
  subjects.set(id, subject)
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    subject.stderr = (subject.stderr + text).slice(-STDERR_KEPT)
  })
  child.once('spawn', () => report({ type: 'started', id, pid: child.pid! }))
  child.once('error', (error) => {
    if (child.pid === undefined) report({ type: 'failed', id, message: error.message })
  })
  // 'close' comes after the last of stderr, but never while a grandchild holds the pipe open.
  child.once('exit', (code, killer) => {
    const tell = (): void =>
      report({ type: 'exited', id, status: killer ? `by ${killer}` : `with code ${code}`, stderr: subject.stderr })
    if (child.stderr.readableEnded) return tell()
    const waited = setTimeout(tell, 200)
    child.stderr.once('end', () => {
      clearTimeout(waited)
      tell()
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
    // One that is paused would not hear it.
    if (process.platform !== 'win32') signalTree(child.pid, alive, 'SIGCONT')
  }
  while (alive.length > 0 && performance.now() < deadline + KILL_PATIENCE) {
    if (performance.now() >= deadline) signalTree(child.pid, alive, 'SIGKILL')
    await new Promise((resolve) => setTimeout(resolve, POLL))
    alive = await members(child.pid, mark!)
  }
  // Not before: should the runner go away meanwhile, this subject is to be killed at once.
  subjects.delete(id)
}

async function members(root: number, mark: string): Promise<number[]> {
  return [...new Set([...(await listTree(root)), ...marked(mark)])]
}

/** Linux only: /proc/<pid>/environ is what a process was started with, whoever its parent is now. */
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

function report(message: WardenReport): void {
  if (process.connected) process.send!(message)
}
