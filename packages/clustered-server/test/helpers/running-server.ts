// Servers, and processes that run one, which end with the test that has started them.

import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { expect, onTestFinished } from 'vitest'
import { type ClusteredServer, type ClusteredServerOptions, createClusteredServer } from '../../src/index.ts'

/** Has an app of `test/apps` run in workers of the test's own process. */
export async function startServer(app: string, options: ClusteredServerOptions = {}): Promise<ClusteredServer> {
  const url = new URL(`../fixtures/apps/${app}`, import.meta.url)
  // Where much else runs, a worker may not run for a second without standing still.
  const usual = { workers: 2, port: 0, host: '127.0.0.1', signals: false, heartbeatTimeout: 10_000 }
  const server = await createClusteredServer(url, { ...usual, ...options })
  onTestFinished(() => server.kill())
  return server
}

/** A primary in a process of its own. */
export interface ServerProcess {
  readonly process: ChildProcess
  readonly port: number
  /** Of the workers that take connections, and of the one in reserve. */
  readonly workers: readonly number[]
  /** Has it reload, and resolves when it has. */
  reload: () => Promise<void>
}

interface Started {
  port: number
  workers: number[]
}

/** Has an app run in workers of a process of its own, which a command starts. */
export async function startProcess(
  command: readonly [string, ...string[]],
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const [file, ...args] = command
  const script = new URL('../fixtures/apps/primary-process.ts', import.meta.url).pathname
  const child = spawn(file, [...args, script], { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<unknown> => {
    const { value, done } = await lines.next()
    if (done) throw new Error('The process has ended')
    return JSON.parse(value)
  }
  const started = (await next()) as Started
  return {
    ...started,
    process: child,
    reload: async () => {
      child.stdin.write('reload\n')
      const said = await next()
      if (said !== 'reloaded') throw new Error(String(said))
    },
  }
}

/** Resolves when so many workers take connections, one is in reserve, and no other is there. */
export async function settled(server: ClusteredServer, workers = 2): Promise<void> {
  const states = [...Array.from({ length: workers }, () => 'active'), 'standby']
  const look = (): string[] =>
    server
      .status()
      .workers.map(({ state }) => state)
      .toSorted()
  await expect.poll(look, { timeout: 30_000 }).toEqual(states)
}

/** Whether a process runs. One that has ended, and whose end nobody has asked for, does not. */
export function isAlive(pid: number): boolean {
  return identityOf(pid) !== undefined
}

/** The number of a process that runs, and what tells it from a later one that gets it, on Linux: when it was started. */
export function identityOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the command, in brackets, may have spaces.
    const [state, ...others] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? undefined : `${pid} since ${others[18]}`
  } catch {
    return undefined
  }
}

/** The processes that a process has started or been left, on Linux. */
export function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return children === '' ? [] : children.split(' ').map(Number)
}

/** Its command line, on Linux. */
export function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
}

/** How many files, sockets and the like a process has open, on Linux. */
export function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}
