// `clustered-server` runs the "hello world" of each framework as its documentation writes it: from the tarball, in an empty
// folder, with two workers and a reload under requests.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import getPort from 'get-port'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HelloWorld, helloWorlds } from './hello-world.ts'
import { NODES, shell, writeFiles } from './quick-start.ts'
import { demand, Tarball } from './tarball.ts'

interface LogLine {
  readonly level: number
  readonly msg: string
}

const tarball = new Tarball('clustered-server')
let paths: string[] = []
beforeAll(async () => {
  paths = await tarball.pack()
})
afterAll(() => tarball.remove())

describe.each(helloWorlds)('$name', (world) => {
  const folder = mkdtempSync(join(tmpdir(), 'hello-world-'))
  let port = 0

  beforeAll(async () => {
    port = await getPort()
    const files = Object.entries(world.files).map(([name, code]) => [name, code.replaceAll('3000', String(port))])
    writeFiles(folder, Object.fromEntries(files) as Record<string, string>)
    const install = `npm install --no-audit --no-fund ${[...paths, ...world.packages].join(' ')}`
    await demand(folder, shell(install, NODES[24]))
    if (world.build !== undefined) await demand(folder, shell(world.build, NODES[24]))
  }, 300_000)

  afterAll(() => rmSync(folder, { recursive: true }))

  it.each(['24', '22'] as const)(
    'serves and reloads with two workers on Node %s',
    { timeout: 120_000 },
    async (node) => {
      const server = new Server(folder, world, port, NODES[node])
      try {
        await server.logged(/^listening on 127\.0\.0\.1, port \d+: 2 workers$/)
        expect(await bodyOf(port, '/')).toMatch(world.body)
        expect(await sessionFailures(port, world.handshake)).toEqual([])
        expect(await reloadUnderRequests(server, port, world.body)).toEqual([])
        expect(await bodyOf(port, '/')).toMatch(world.body)
      } finally {
        server.child.kill('SIGTERM')
      }
      expect(await server.exit).toBe(0)
      expect(server.log.filter(({ level }) => level >= 40)).toEqual([])
    },
  )
})

/** The command, as it runs in a folder. */
class Server {
  readonly child: ReturnType<typeof spawn>
  readonly exit: Promise<number | null>
  #output = ''

  constructor(folder: string, { start }: HelloWorld, port: number, node: string) {
    const command = `NODE_ENV=production exec node_modules/.bin/clustered-server ${start} --workers 2 --port ${port} --host 127.0.0.1`
    const [program, ...args] = shell(command, node)
    this.child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#output += text))
    this.exit = once(this.child, 'close').then(([code]) => code as number | null)
  }

  get log(): LogLine[] {
    const lines = this.#output.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'))
    return lines.map((line) => JSON.parse(line) as LogLine)
  }

  /** Resolves when the log has a line. */
  async logged(pattern: RegExp): Promise<void> {
    while (!this.log.some(({ msg }) => pattern.test(msg))) {
      const { exitCode, signalCode } = this.child
      if (exitCode !== null || signalCode !== null) throw new Error(`The command has ended:\n${this.#output}`)
      await sleep(50)
    }
  }
}

/** Begins a session, if there are sessions, and resolves with those of its requests that another worker has got. */
async function sessionFailures(port: number, handshake: string | undefined): Promise<string[]> {
  if (handshake === undefined) return []
  const session = /"sid":"([^"]+)"/.exec(await bodyOf(port, handshake))?.[1]
  const responses: string[] = []
  for (const packet of ['40', '42["hello"]']) responses.push(await bodyOf(port, `${handshake}&sid=${session}`, packet))
  return responses.filter((response) => response !== 'ok')
}

/** Reloads while a client makes requests, and resolves with those that failed. */
async function reloadUnderRequests(server: Server, port: number, body: RegExp): Promise<unknown[]> {
  const failures: unknown[] = []
  const reloaded = new AbortController()
  const client = (async () => {
    while (!reloaded.signal.aborted) {
      const text = await bodyOf(port, '/').catch((error: unknown) => error)
      if (typeof text !== 'string' || !body.test(text)) failures.push(text)
    }
  })()
  server.child.kill('SIGHUP')
  try {
    await server.logged(/^reloaded: generation 2 is active, /)
  } finally {
    reloaded.abort()
  }
  await client
  return failures
}

/** Body of the response to a `GET`, or to a `POST` with a text. */
async function bodyOf(port: number, path: string, text?: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    signal: AbortSignal.timeout(30_000),
    ...(text !== undefined && { method: 'POST', body: text }),
  })
  return `${response.ok ? '' : `status ${response.status}: `}${await response.text()}`
}
