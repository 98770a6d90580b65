// Hosts for tests of several machines: each is a network namespace of its own.

import { execFileSync, spawnSync } from 'node:child_process'
import { requireProgram } from '@test/required-program'

export interface Host {
  /** Of its namespace, and of its network interface here. */
  readonly name: string
  /** This machine, as the host sees it. */
  readonly gateway: string
  readonly address: string
}

/** Whether this process may make hosts. */
export function canMakeHosts(): boolean {
  if (process.getuid?.() !== 0 || !requireProgram('ip', 'iproute2')) return false
  const name = `try-${process.pid}`
  const isMade = spawnSync('ip', ['netns', 'add', name]).status === 0
  if (isMade) spawnSync('ip', ['netns', 'del', name])
  return isMade
}

export function ip(...words: string[]): void {
  execFileSync('ip', words)
}

export function addHost({ name, gateway, address }: Host): void {
  ip('netns', 'add', name)
  ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'inside', 'netns', name)
  ip('addr', 'add', `${gateway}/30`, 'dev', name)
  ip('link', 'set', name, 'up')
  ip('-n', name, 'addr', 'add', `${address}/30`, 'dev', 'inside')
  ip('-n', name, 'link', 'set', 'inside', 'up')
  ip('-n', name, 'link', 'set', 'lo', 'up')
}

export function removeHost({ name }: Host): void {
  spawnSync('ip', ['netns', 'del', name])
  spawnSync('ip', ['link', 'del', name])
}
