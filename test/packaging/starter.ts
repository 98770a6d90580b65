// A copy of examples/starter, with the tarballs of this workspace in place of the versions that its package.json names.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { NODES, shell } from './quick-start.ts'
import { demand, packAll } from './tarball.ts'
import { copyWorkspace } from './workspace-copy.ts'

/** The packages of this workspace that the starter has. */
export const OWN = ['aggregator-gateway', 'clustered-server', 'speed-bounds', 'trpc-fastify']

export class Starter {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'starter-'))
  readonly #tarballs: string = mkdtempSync(join(tmpdir(), 'starter-tarballs-'))

  /** Copies, packs and installs, further packages too. */
  async install(...further: readonly string[]): Promise<void> {
    copyWorkspace(this.folder, 'examples/starter')
    const paths = await packAll([...OWN, ...further], this.#tarballs)
    await demand(this.folder, shell(`npm install --no-audit --no-fund ${paths.join(' ')}`, NODES[24]))
  }

  remove(): void {
    for (const folder of [this.folder, this.#tarballs]) rmSync(folder, { recursive: true })
  }

  /** Starts a command, until the test ends. */
  start(command: string, env: Readonly<Record<string, string>>): void {
    const [program, ...args] = shell(`exec ${command}`, NODES[22])
    // In a group of its own: npm starts a shell, which starts Node, which starts others.
    const child = spawn(program, args, {
      cwd: this.folder,
      env: { ...process.env, ...env },
      stdio: 'ignore',
      detached: true,
    })
    const closed = once(child, 'close')
    onTestFinished(async () => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!)
      await closed
    })
  }
}

/** The body of the first response, as soon as the server listens. */
export async function bodyOf(port: number, path: string): Promise<string> {
  let text = ''
  await expect
    .poll(
      async () => {
        const response = await fetch(`http://127.0.0.1:${port}${path}`)
        text = await response.text()
        return response.status
      },
      { timeout: 60_000 },
    )
    .toBe(200)
  return text
}
