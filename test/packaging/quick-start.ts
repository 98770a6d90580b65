// The quick start of a README, as a reader pastes it: commands and files word for word, but for the ports.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import getPort from 'get-port'
import { run } from './tarball.ts'

const nodes = createRequire(new URL('../node-versions/package.json', import.meta.url))

/** The Nodes that readers may have. */
export const NODES: Readonly<Record<'20' | '22' | '24', string>> = {
  20: nodes.resolve('node-20/bin/node'),
  22: nodes.resolve('node-22/bin/node'),
  24: process.execPath,
}

export interface QuickStart {
  text: string
  /** Files by path. */
  files: Readonly<Record<string, string>>
  /** Blocks of commands, without the one that makes a request: the first installs, the second starts. */
  commands: readonly string[]
  /** The command that makes a request to the server that was started. */
  request: string | undefined
  /** What the README says that this prints, or, without a request, the command that starts. */
  printed: string
}

/** Reads the section, with free ports in place of those that it names. */
export async function readQuickStart(readme: string): Promise<QuickStart> {
  const section = /^## Quick start\n([\s\S]*?)(?=^##)/m.exec(readme)![1]!
  let text = section
  for (const port of new Set(section.match(/\b300\d\b/g)))
    text = text.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), String(await getPort()))
  const blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => [language!, code!])
  const typed = blocks.filter(([language]) => language === 'sh').map(([, code]) => code!)
  const [, request, response = ''] =
    typed.map((code) => /^(curl .*?)\s+# (.*)$/m.exec(code)).find((found) => found !== null) ?? []
  const named = blocks.map(([, code]) => [/^\/\/ (\S+\.[jt]s)\n/.exec(code!)?.[1], code!] as const)
  return {
    text,
    files: Object.fromEntries(named.flatMap(([name, code]) => (name === undefined ? [] : [[name, code]]))),
    commands: typed.filter((code) => !code.startsWith('curl ')),
    request,
    printed: request === undefined ? claimIn(text) : withoutPid(response),
  }
}

/** Lines of its files that are neither empty nor comments. */
export function linesOfCode({ files }: QuickStart): string[] {
  return Object.values(files).flatMap((code) =>
    code.split('\n').filter((line) => line !== '' && !/^\s*\/\//.test(line)),
  )
}

export function writeFiles(folder: string, files: QuickStart['files']): void {
  for (const [name, code] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), code)
  }
}

/** A command that runs shell commands with a Node of its own, and with no modules but those of the folder. */
export function shell(commands: string, node: string): [string, ...string[]] {
  const path = [dirname(node), process.env['PATH']].join(delimiter)
  return ['env', '-u', 'NODE_PATH', `PATH=${path}`, 'NEXT_TELEMETRY_DISABLED=1', 'sh', '-e', '-c', commands]
}

/** What the quick start prints when it is started by a command, as {@link QuickStart.printed} has it. */
export async function outputOf(folder: string, start: string, { request }: QuickStart, node: string): Promise<string> {
  if (request !== undefined) return withoutPid(await responseOf(folder, start, request, node))
  // Fewer and shorter rounds than by default: the verdict depends on the machine, and is left out.
  const brief = '--replicas 2 --cycles 2 --duration 50ms --max-warm-up 100ms --budget 5s'
  const { output } = await run(folder, shell(`${start.trim()} ${brief}`, node))
  return claimIn(output)
}

const withoutPid = (text: string): string => text.replaceAll(/"pid":\d+/g, '"pid":1')

/** A line such as `a is at least 2x b (GET /): holds`, without the verdict. */
const claimIn = (output: string): string =>
  /^(\w+ is at least .*): (?:holds|broken|inconclusive)$/m.exec(output)?.[1] ?? `no claim in:\n${output}`

/** What the request gets of a server that a command starts; the server is stopped then. */
async function responseOf(folder: string, start: string, request: string, node: string): Promise<string> {
  const { NODE_ENV: _, ...env } = process.env
  // The shell makes way for the server, which gets the signal.
  const exec = start.trim().replace(/^((?:\w+=\S+ )*)/, '$1exec ')
  const [program, ...args] = shell(exec, node)
  const server = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk) => (printed += String(chunk)))
  const closed = once(server, 'close')
  try {
    const retried = request.replace('curl ', 'curl --silent --retry-connrefused --retry 60 --retry-delay 1 ')
    const [client, ...rest] = shell(retried, node)
    const curl = spawn(client, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
    let body = ''
    curl.stdout.on('data', (chunk) => (body += String(chunk)))
    const isDone = await Promise.race([once(curl, 'close').then(() => true), closed.then(() => false)])
    if (!isDone) {
      curl.kill()
      throw new Error(`The server has ended:\n${printed}`)
    }
    return body
  } finally {
    server.kill('SIGTERM')
    await closed
  }
}
