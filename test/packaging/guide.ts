// A guide of docs/guides, as a reader pastes it: commands and files word for word, but for the ports.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import getPort from 'get-port'
import { onTestFinished } from 'vitest'
import { NODES, shell } from './quick-start.ts'
import { ROOT } from './workspace-copy.ts'

export interface Guide {
  /** Code by language, in the order of the page. */
  readonly blocks: readonly { readonly language: string; readonly code: string }[]
  /** Files by the name in their first line. Of several with one name, the first. */
  readonly files: Readonly<Record<string, string>>
  /** Blocks of commands. */
  readonly commands: readonly string[]
  /** Free ports in place of those of the guide. */
  readonly ports: Readonly<Record<string, number>>
}

export async function readGuide(name: string): Promise<Guide> {
  let text = readFileSync(join(ROOT, 'docs/guides', `${name}.md`), 'utf8')
  const ports: Record<string, number> = {}
  for (const port of new Set(text.match(/(?<=port: |PORT: )300\d\b/g))) {
    ports[port] = await getPort()
    text = text.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), String(ports[port]))
  }
  const blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => ({
    language: language!,
    code: code!,
  }))
  const files: Record<string, string> = {}
  for (const { code } of blocks) {
    const [, file] = /^\/\/ (\S+\.\w+)\n/.exec(code) ?? []
    if (file !== undefined) files[file] ??= code
  }
  const commands = blocks.filter(({ language }) => language === 'sh').map(({ code }) => code)
  return { blocks, files, commands, ports }
}

/** Starts a command, which runs until it ends by itself or the test does. */
export function startCommand(folder: string, command: string): RunningCommand {
  return new RunningCommand(folder, command)
}

class RunningCommand {
  output = ''
  readonly code: Promise<number | null>

  constructor(folder: string, command: string) {
    const [program, ...args] = shell(`exec ${command}`, NODES[24])
    // In a group of its own, as npx does not pass signals on to the server that it starts.
    const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (this.output += String(chunk)))
    this.code = once(child, 'close').then(([code]) => code as number | null)
    onTestFinished(async () => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!)
      await this.code
    })
  }
}
