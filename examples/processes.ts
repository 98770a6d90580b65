// The processes that `run.ts` has started, each the leader of a group of its own.

import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, dirname } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export type Environment = Readonly<Record<string, string | undefined>>

/** Time that a server has after the stop signal, in milliseconds. */
const STOP_TIMEOUT = 10_000

/** The process of a server, and the ports that it has printed. */
export interface StartedServer {
  readonly pid: number
  readonly server: string
  readonly admin: string | undefined
}

interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<number | null>
}

const running: Started[] = []
let isStopping = false

// Ctrl-C in a terminal signals the whole foreground group: with a group of its own, a server gets one signal, from here.
function start(file: URL, env: Environment, stdio: StdioOptions): Started {
  const child = spawn(process.execPath, [fileURLToPath(file)], {
    cwd: fileURLToPath(new URL('.', file)),
    // PM2 takes the first `node` of the path.
    env: { ...process.env, PATH: dirname(process.execPath) + delimiter + process.env['PATH'], ...env },
    stdio,
    detached: process.platform !== 'win32',
  })
  const started = { child, ended: once(child, 'exit').then(([code]) => code as number | null) }
  running.push(started)
  // A signal may have come before this start.
  if (isStopping) child.kill('SIGTERM')
  return started
}

/** Runs a program to its end, and prints what it has printed if it fails. */
export async function runToEnd(file: URL, env: Environment): Promise<number | null> {
  const started = start(file, env, ['ignore', 'pipe', 'pipe'])
  const { child, ended } = started
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (printed += String(chunk)))
  const code = await ended
  running.splice(running.indexOf(started), 1)
  if (code !== 0 && !isStopping) process.stderr.write(printed)
  return code
}

/** Starts a program that prints by itself how to use it. */
export function startAttached(file: URL, env: Environment): void {
  start(file, env, ['ignore', 'inherit', 'inherit'])
}

/** Starts a server, and waits until it has printed its ports; none when it has ended before. `output` gets what follows. */
export async function startServer(
  file: URL,
  env: Environment,
  output: Writable = process.stdout,
): Promise<StartedServer | undefined> {
  const { stdout, pid } = start(file, env, ['ignore', 'pipe', 'inherit']).child
  const adminFollows = env['ADMIN_PORT'] !== undefined
  let printed = ''
  for await (const chunk of (stdout as Readable).iterator({ destroyOnReturn: false })) {
    printed += String(chunk)
    const server = /(?:port: |^Open \S+:|Local: +http:\S+:)(\d+)\D/m.exec(printed)?.[1]
    const admin = /admin port: (\d+)\D/.exec(printed)?.[1]
    if (server === undefined || (adminFollows && admin === undefined)) continue
    stdout?.pipe(output)
    return { pid: pid!, server, admin }
  }
  return undefined
}

/** The code of the first process that ends. */
export function firstEnd(): Promise<number | null> {
  return Promise.race(running.map(({ ended }) => ended))
}

let stopped: Promise<void> | undefined

/** Stops all processes, the last one first. */
export function stopAll(): Promise<void> {
  stopped ??= stopInTurn()
  return stopped
}

async function stopInTurn(): Promise<void> {
  isStopping = true
  for (const { child, ended } of running.toReversed()) {
    child.kill('SIGTERM')
    await Promise.race([ended, sleep(STOP_TIMEOUT, undefined, { ref: false })])
    endGroup(child)
  }
}

/** Whatever a process has started and left behind. */
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // The group is empty, as it should be.
  }
}
