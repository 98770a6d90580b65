// A server with HAProxy before it, as one subject: `node behind-haproxy.ts <file of the server>`. It has the contract of
// subjects: `HOST` and `PORT`, and SIGTERM.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { foundProgram } from '@test/required-program'
import getPort from 'get-port'

const { HOST = '127.0.0.1', PORT } = process.env
const upstream = String(await getPort())
const folder = mkdtempSync(join(tmpdir(), 'haproxy-'))
const configuration = join(folder, 'haproxy.cfg')

writeFileSync(
  configuration,
  `global
  nbthread 1
  maxconn 2000
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
listen app
  bind ${HOST}:${PORT}
  http-reuse always
  server app ${HOST}:${upstream}
`,
)

const children: ChildProcess[] = []

let isStopping = false

process.once('SIGTERM', () => {
  isStopping = true
  stop()
})

function stop(): void {
  for (const child of children) child.kill('SIGTERM')
}

/** Starts a program. When it ends, so do the others. */
function start(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: 'inherit' })
  children.push(child)
  child.once('exit', () => {
    stop()
    if (children.every(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null))
      process.exit(isStopping ? 0 : 1)
  })
}

start(process.execPath, [process.argv[2]!], { PORT: upstream })
await accepting(Number(upstream))
start(foundProgram('haproxy') ?? 'haproxy', ['-q', '-db', '-f', configuration])
await accepting(Number(PORT))
rmSync(folder, { recursive: true })

async function accepting(port: number): Promise<void> {
  while (!(await accepts(port))) await sleep(20)
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, HOST)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
