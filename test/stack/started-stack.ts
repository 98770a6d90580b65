// The command `example stack`, started and stopped as a reader does it.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Credentials } from './visitors.ts'

export interface Stack {
  readonly origin: string
  readonly metrics: string
  readonly traces: string
  readonly users: readonly [Credentials, Credentials]
  /** Whether Redis holds the shared cache. */
  readonly hasRedis: boolean
  /** Milliseconds until it was up. */
  readonly startedIn: number
  /** Process of the server, which SIGHUP reloads. */
  readonly primary: number
  stop: () => Promise<unknown[]>
}

export async function startStack(env: Readonly<Record<string, string>> = {}): Promise<Stack> {
  const startedAt = performance.now()
  const { PORT: _, ADMIN_PORT: __, ...inherited } = process.env
  const run = fileURLToPath(new URL('../../examples/run.ts', import.meta.url))
  const child = spawn(process.execPath, [run, 'stack'], {
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const printed = await printedUntil(child, 'Ctrl-C')
  const value = (label: string): string => new RegExp(`^ {2}${label} +(.+)$`, 'm').exec(printed)![1]!
  const users = [...printed.matchAll(/^ {2}sign in +(\S+) (\S+)$/gm)].map(([, name, password]) => ({ name, password }))
  return {
    origin: value('app'),
    metrics: value('metrics'),
    traces: value('traces'),
    users: users as unknown as Stack['users'],
    hasRedis: value('cache').startsWith('Redis'),
    startedIn: performance.now() - startedAt,
    primary: Number(/kill -HUP (\d+)/.exec(printed)![1]),
    stop: () => {
      child.kill('SIGINT')
      return ended
    },
  }
}

async function printedUntil(child: ChildProcess, text: string): Promise<string> {
  let printed = ''
  for await (const chunk of child.stdout!.iterator({ destroyOnReturn: false })) {
    printed += String(chunk)
    if (!printed.includes(text)) continue
    child.stdout!.resume()
    return printed
  }
  throw new Error(`It has ended:\n${printed}`)
}
