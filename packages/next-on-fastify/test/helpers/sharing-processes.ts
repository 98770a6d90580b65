// Processes that serve one build, and a number that its pages show.

import { fork, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ResponseCacheStats, NextPluginOptions } from 'next-on-fastify'
import { builtFixture, type Fixture, type Peers } from './built-fixture.ts'

const PROGRAM = fileURLToPath(new URL('../fixtures/servers/sharing.ts', import.meta.url))

/** One of the processes. */
export interface SharingProcess {
  readonly origin: string
  readonly child: ChildProcess
  /** Asks for a page, and returns the number that it shows. */
  version(path: string): Promise<number>
  /** Asks for something to be revalidated; it is when this resolves. */
  change(path: string): Promise<void>
  counts(): Promise<ResponseCacheStats>
  kill(): Promise<void>
}

/** What several processes serve. */
export interface SharedApp {
  readonly dir: string
  /** Changes the number. */
  setVersion(version: number): void
  /** How often a page was rendered, or its data was read, by all processes. */
  renders(page: string): number
  /** Starts a process; of a machine of its own where they share a Redis. */
  start(options: NextPluginOptions, redis?: string): Promise<SharingProcess>
  close(): Promise<void>
}

/** Builds the app, unless that was done before, and makes a copy of its own. */
export async function sharedApp(peers: Peers, fixture: Fixture = 'shared'): Promise<SharedApp> {
  const built = await builtFixture(peers, {}, fixture)
  const folder = mkdtempSync(join(built, '../copy-'))
  const dir = join(folder, 'app')
  copy(built, dir)
  const versions = join(folder, 'version')
  const renders = join(folder, 'renders')
  writeFileSync(versions, '0')
  writeFileSync(renders, '')
  const source = createServer((_, response) => response.end(readFileSync(versions, 'utf8')))
  source.listen(0, '127.0.0.1')
  await once(source, 'listening')
  const processes = new Set<SharingProcess>()
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    NEXT_TELEMETRY_DISABLED: '1',
    VERSION_FILE: versions,
    VERSION_URL: `http://127.0.0.1:${(source.address() as AddressInfo).port}`,
    RENDERS_FILE: renders,
  }
  return {
    dir,
    setVersion(version) {
      // Whole, as it is read meanwhile.
      writeFileSync(`${versions}-next`, String(version))
      renameSync(`${versions}-next`, versions)
    },
    renders: (page) =>
      readFileSync(renders, 'utf8')
        .split('\n')
        .filter((line) => line === page).length,
    async start(options, redis) {
      const own = redis === undefined ? dir : join(folder, randomUUID())
      if (own !== dir) copy(dir, own)
      const settings = {
        OPTIONS: JSON.stringify({ dir: own, ...options }),
        ...(redis !== undefined && { REDIS: redis }),
      }
      const child = fork(PROGRAM, { env: { ...env, ...settings }, execArgv: [] })
      const origin = await Promise.race([
        once(child, 'message').then(([told]) => told as string),
        once(child, 'exit').then(([code]) => Promise.reject(new Error(`It has ended with ${String(code)}`))),
      ])
      const started = processOf(child, origin)
      processes.add(started)
      return started
    },
    async close() {
      await Promise.all([...processes].map((one) => one.kill()))
      source.closeAllConnections()
      source.close()
      rmSync(folder, { recursive: true })
    },
  }
}

function copy(from: string, to: string): void {
  cpSync(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
}

function processOf(child: ChildProcess, origin: string): SharingProcess {
  const ask = async (path: string): Promise<string> => {
    const response = await fetch(origin + path)
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${path} was answered with ${response.status}: ${text.slice(0, 200)}`)
    return text
  }
  return {
    origin,
    child,
    async version(path) {
      const text = await ask(path)
      const found = /version (\d+)/.exec(text)
      if (found === null) throw new Error(`${path} shows no version: ${text.slice(0, 200)}`)
      return Number(found[1])
    },
    async change(path) {
      await ask(path)
    },
    async counts() {
      return JSON.parse(await ask('/counts')) as ResponseCacheStats
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
