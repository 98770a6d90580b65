// The apps of this workspace and of other frameworks, as their examples are, in workers of clustered-server: they know nothing
// of it.

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { endSubjects } from '../running-subjects.ts'
import { cases, startUpstreams, subjects as gateways } from '../suites/gateway.ts'
import { apps, cases as framed, subjects as frameworks } from '../suites/http-frameworks.ts'
import { build, BUILD_TIMEOUT, freshCases, keptCases, nextApp } from '../suites/next.ts'
import { plainCases, subjects as trpcServers } from '../suites/trpc.ts'

const CLI = fileURLToPath(new URL('../../packages/clustered-server/src/cli/main.ts', import.meta.url))
const CLIENTS = 10
const RELOADS = 2
/** Requests that each client has made at least between two reloads. */
const BETWEEN = 20

interface Asked {
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** The command, and what it logs. */
class Command {
  readonly child: ChildProcessByStdio<null, null, Readable>
  readonly exit: Promise<unknown[]>
  readonly #lines: { msg: string; port?: number }[] = []

  constructor(app: string) {
    // Where much else runs, a worker may not run for a second without standing still.
    const args = [CLI, app, '--workers', '2', '--port', '0', '--host', '127.0.0.1', '--heartbeat-timeout', '10000']
    const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' }
    this.child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    this.exit = once(this.child, 'exit')
    createInterface({ input: this.child.stderr }).on('line', (line) => {
      if (line.startsWith('{')) this.#lines.push(JSON.parse(line) as { msg: string })
    })
  }

  async logged(start: string): Promise<{ msg: string; port?: number }> {
    for (;;) {
      const found = this.#lines.find(({ msg }) => msg.startsWith(start))
      if (found) return found
      const { exitCode, signalCode } = this.child
      if (exitCode !== null || signalCode !== null) throw new Error(`It has ended before "${start}"`)
      await sleep(20)
    }
  }

  count(text: RegExp): number {
    return this.#lines.filter(({ msg }) => text.test(msg)).length
  }
}

let server: Command | undefined
afterEach(() => {
  server?.child.kill('SIGKILL')
  server = undefined
  endSubjects()
})

beforeAll(() => build(), BUILD_TIMEOUT)

describe.each([
  ['trpc-fastify', trpcServers['trpc-fastify'], [plainCases.greet, plainCases.note]],
  // Without what gives a call up after 500 ms, which a busy machine may need: whatever fails is an error here.
  ['aggregator-gateway', gateways['aggregator-gateway-bare'], [cases.small, cases.large]],
  // A page and a file that are kept in memory, and what Next makes for each request.
  ['next-on-fastify', nextApp, [keptCases.page, keptCases.assetGzip, freshCases.api]],
  ['Express', apps.express, [framed.hello, framed.json]],
  ['NestJS', apps.nestjs, [framed.hello, framed.json]],
  ['Express that listens by itself', frameworks.express, [framed.hello, framed.json]],
  ['NestJS that listens by itself', frameworks['nestjs-fastify'], [framed.hello, framed.json]],
])('%s in two workers', (_name, app, asked) => {
  it(
    'is reloaded under load without a failed request, and ends in good order',
    { timeout: 300_000 },
    async ({ annotate }) => {
      await startUpstreams()
      server = new Command(fileURLToPath(app as URL))
      const { port } = await server.logged('listening on')
      const agent = new Agent({ keepAlive: true })
      const right = await Promise.all(asked.map((one) => answer(port!, agent, one as Asked)))
      for (const { status, body } of right) expect([status, body.length > 10]).toEqual([200, true])

      const done = Array.from({ length: CLIENTS }, () => 0)
      const failures: unknown[] = []
      const over = new AbortController()
      const clients = done.map(async (_, client) => {
        const which = client % asked.length
        while (!over.signal.aborted) {
          const got = await answer(port!, agent, asked[which] as Asked).catch((error: unknown) => error)
          done[client]!++
          try {
            expect(got).toEqual(right[which])
          } catch {
            failures.push(got)
          }
        }
      })
      for (let reload = 1; reload <= RELOADS; reload++) {
        const before = [...done]
        await expect.poll(() => done.every((count, client) => count >= before[client]! + BETWEEN), patient).toBe(true)
        server.child.kill('SIGHUP')
        await server.logged(`reloaded: generation ${reload + 1} `)
      }
      over.abort()
      await Promise.all(clients)
      agent.destroy()
      await annotate(`${done.reduce((sum, count) => sum + count)} requests, ${failures.length} failed`)
      expect(failures).toEqual([])
      // Two for each reload, and none that was not to end.
      await expect.poll(() => server!.count(/^worker \d+ ended/), patient).toBeGreaterThanOrEqual(2 * RELOADS)
      expect(server.count(/ended unexpectedly/)).toBe(0)
      server.child.kill('SIGTERM')
      await expect(server.exit).resolves.toEqual([0, null])
    },
  )
})

const patient = { timeout: 60_000 }

/** One that is reused at the wrong time fails: this client does not try again. */
async function answer(
  port: number,
  agent: Agent,
  { path, method, headers, body }: Asked,
): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  const sent = request({ host: '127.0.0.1', port, path, method, headers, agent }, (response) => {
    response
      .toArray()
      .then(
        (chunks) => resolve({ status: response.statusCode!, body: Buffer.concat(chunks as Buffer[]).toString() }),
        reject,
      )
  })
  sent.setTimeout(30_000, () => sent.destroy(new Error('timeout')))
  sent.on('error', reject).end(body)
  return promise
}
