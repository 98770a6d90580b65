// Keeps the temporary folder of a comparison: it runs git, installs and builds, and outlives the comparison by a moment.
// When the channel closes, for any reason (the end, Ctrl-C, SIGKILL), it ends them and removes all worktrees.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, realpathSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listTree, signalTree } from '../platform/process-tree.ts'
import type { WorkspaceCommand, WorkspaceReport } from './workspace-messages.ts'

const MAX_OUTPUT = 8192
/** Removals are tried again while processes that end still write. */
const RETRIES = { maxRetries: 20, retryDelay: 100 }

const repository = process.argv[2]!
const running = new Set<ChildProcess>()
let isClosing = false

try {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'speed-bounds-compare-')))
  process.on('message', run)
  process.once('disconnect', () => void close(folder).finally(() => process.exit()))
  report({ type: 'ready', folder })
} catch (error) {
  process.once('disconnect', () => process.exit())
  report({ type: 'failed', message: (error as Error).message })
}

function run({ id, program, args, shell, cwd, env }: WorkspaceCommand): void {
  const child = spawn(program, args, {
    cwd,
    env,
    shell,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  running.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-MAX_OUTPUT)
    })
  }
  const end = (status: string | undefined, text = output): void => {
    running.delete(child)
    report({ type: 'ended', id, status, output: text })
  }
  child.once('error', (error) => end(error.message))
  child.once('close', (code, signal) => {
    if (running.has(child)) end(code === 0 ? undefined : `exit ${signal ?? `code ${code}`}`)
  })
}

async function close(folder: string): Promise<void> {
  isClosing = true
  for (const { pid } of running) if (pid !== undefined) signalTree(pid, await listTree(pid), 'SIGKILL')
  const worktrees = readdirSync(folder).map((name) => join(folder, name))
  for (const worktree of worktrees) removeWorktree(worktree)
  await rm(folder, { recursive: true, force: true, ...RETRIES })
}

/** Removes a worktree, and git's record of it. Twice the force removes one that is still being made. */
function removeWorktree(path: string): void {
  try {
    execFileSync('git', ['worktree', 'remove', '--force', '--force', path], { cwd: repository, stdio: 'ignore' })
  } catch {
    // It is no worktree yet: `rm` removes the folder.
  }
}

function report(message: WorkspaceReport): void {
  if (process.connected && !isClosing) process.send!(message, undefined, undefined, () => {})
}
