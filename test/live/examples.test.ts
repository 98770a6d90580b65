// One server of each suite, started and stopped as a reader does it.

import { type ChildProcessByStdio, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import getPort from 'get-port'
import { BUILD_TIMEOUT } from '../suites/next.ts'

const run = fileURLToPath(new URL('../../examples/run.ts', import.meta.url))

class Run {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  readonly exit: Promise<unknown[]>
  printed = ''

  constructor(name: string, env: Readonly<Record<string, string>> = {}) {
    const { PORT: _, UPSTREAM: __, ...inherited } = process.env
    this.child = spawn(process.execPath, [run, name], {
      env: { ...inherited, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.exit = once(this.child, 'exit')
    for (const stream of [this.child.stdout, this.child.stderr])
      stream.on('data', (chunk) => (this.printed += String(chunk)))
  }

  /** Waits until the server listens, and returns the commands to try. */
  async commands(): Promise<string[]> {
    for (;;) {
      if (this.printed.includes('Ctrl-C')) break
      const isOver = await Promise.race([this.exit.then(() => true), once(this.child.stdout, 'data').then(() => false)])
      if (isOver) throw new Error(`It has ended:\n${this.printed}`)
    }
    return [...this.printed.matchAll(/^ {2}(curl .*)$/gm)].map(([, command]) => command!)
  }

  /** All that it has started, and what they have started. */
  descendants(): number[] {
    const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
    const parents = new Map(lines.map((line) => line.trim().split(/\s+/).map(Number) as [number, number]))
    const isBelow = (pid: number | undefined): boolean =>
      pid !== undefined && pid > 1 && (pid === this.child.pid || isBelow(parents.get(pid)))
    return [...parents.keys()].filter((pid) => pid !== this.child.pid && isBelow(pid))
  }
}

const isAlive = (pid: number): boolean =>
  spawnSync('ps', ['-p', String(pid), '-o', 'stat='])
    .stdout.toString()
    .replace(/^Z.*/, '')
    .trim() !== ''

let running: Run | undefined
afterEach(async () => {
  if (running?.child.exitCode === null) running.child.kill('SIGTERM')
  await running?.exit
  running = undefined
})

describe.skipIf(process.platform === 'win32')('example', () => {
  it.each([
    ['http-frameworks/fastify', 1],
    ['trpc/trpc-fastify', 1],
    // The upstreams are another process.
    ['gateway/aggregator-gateway', 2],
    ['next/next-on-fastify', 1],
    ['clustered-server/clustered', 3],
    ['clustered-server/pm2', 4],
    ['deploy/server', 1],
  ])(
    '%s serves the requests that it prints, and leaves no process after Ctrl-C',
    { timeout: BUILD_TIMEOUT },
    async (name, least) => {
      running = new Run(name)
      const commands = await running.commands()
      expect(commands).toHaveLength(2)
      for (const command of commands) {
        const { status, stdout } = spawnSync('sh', ['-c', command.replace('curl ', 'curl --silent --fail ')])
        expect([command, status, stdout.length > 0]).toEqual([command, 0, true])
      }
      const started = running.descendants()
      expect(started.length).toBeGreaterThanOrEqual(least)
      running.child.kill('SIGINT')
      expect(await running.exit).toEqual([0, null])
      expect(started.filter(isAlive)).toEqual([])
    },
  )

  it(
    'next lists its servers, and starts the tour of pages, middleware, a revalidation and metrics',
    { timeout: BUILD_TIMEOUT },
    async () => {
      running = new Run('next')
      const commands = await running.commands()
      expect(running.printed).toMatch(/^next-start +next start$/m)
      const outputs = commands.map((command) =>
        spawnSync('sh', ['-c', command.replace('curl ', 'curl --silent ')]).stdout.toString(),
      )
      const [cached, behind, guarded, dynamic, , metrics] = outputs
      expect(cached).toMatch(/cache-status: next-on-fastify/i)
      expect(behind).toMatch(/x-proxy-count: \d/i)
      expect(guarded).toMatch(/^HTTP\/1.1 401/)
      expect(dynamic).not.toMatch(/^cache-status: .*(?:hit|stored)/im)
      expect(metrics).toMatch(/^next_response_cache_bypasses_total\{[^}]*reason="proxy"\} [1-9]/m)
      const started = running.descendants()
      running.child.kill('SIGINT')
      expect(await running.exit).toEqual([0, null])
      expect(started.filter(isAlive)).toEqual([])
    },
  )

  it('listens on the port of the environment', async () => {
    const port = await getPort()
    running = new Run('http-frameworks/node-http', { PORT: String(port) })
    const [command] = await running.commands()
    expect(command).toContain(`http://127.0.0.1:${port}/`)
  })

  it('fails with code 1 when the port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    try {
      running = new Run('http-frameworks/node-http', { PORT: String(port) })
      expect(await running.exit).toEqual([1, null])
      expect(running.printed).toContain('EADDRINUSE')
      expect(running.printed).toContain('http-frameworks/node-http has ended before it listened.\n')
    } finally {
      taken.close()
    }
  })
})
