// The cost of workers beside their speed: the memory of each, and the time without one when some are killed.

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { request } from 'undici'
import { afterEach, expect, it } from 'vitest'
import { endSubjects, startSubject } from '../running-subjects.ts'
import { subjects } from '../suites/clustered-server.ts'
import { limits } from './bounds.ts'

/** Servers. More kills of one would be a crash loop to it. */
const SERVERS = 5
const KILLS = 4
/** It takes a hundred kills to have a p99. */
const KILLED_SERVERS = 25
/** Milliseconds until a new worker waits in reserve: the last of four deaths delays it by half a second. */
const SPARE_IS_READY = 2000
/** Milliseconds. */
const PATIENCE = 5000

const WORKERS = 2

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const folder = new URL('../../results/clustered-processes/', import.meta.url)

afterEach(endSubjects)

const { median: usual, p99: rare, longest } = limits.responseAfterKill
const atMost = [`${usual} ms at the median`, `${rare} ms at the p99`, `${longest} ms at the most`]
it(`kill -9 of a worker: new connections are answered after ${atMost.join(', ')}`, async ({ annotate }) => {
  const times: number[] = []
  for (let server = 0; server < KILLED_SERVERS; server++) {
    const { child, origin } = await startSubject(subjects.clustered.file)
    for (let kill = 0; kill < KILLS; kill++) {
      await sleep(SPARE_IS_READY)
      const [killed] = await workersOf(origin)
      const before = performance.now()
      process.kill(killed!, 'SIGKILL')
      expect(await answeringPid(origin)).not.toBe(killed)
      times.push(performance.now() - before)
    }
    child.kill('SIGTERM')
  }
  save('kill', times)
  const most = Math.max(...times)
  const figures = [median(times), quantile(times, 0.99), most].map((time) => `${time.toFixed(1)} ms`)
  await annotate(`${times.length} kills, median, p99 and longest: ${figures.join(', ')}`, 'evidence')
  expect(median(times)).toBeLessThanOrEqual(usual)
  expect(quantile(times, 0.99)).toBeLessThanOrEqual(rare)
  expect(most).toBeLessThanOrEqual(longest)
})

it.runIf(process.platform === 'linux')(
  `a worker takes at most ${limits.memoryPerWorker} MB more than the app in one process, the primary at most ${limits.primaryMemory} MB`,
  async ({ annotate }) => {
    const [single, clustered] = build()
    const alone: number[] = []
    const each: number[] = []
    const primary: number[] = []
    for (let server = 0; server < SERVERS; server++) {
      const one = await startSubject(single)
      const several = await startSubject(clustered)
      await sleep(SPARE_IS_READY)
      alone.push(privateMemory(one.child.pid!))
      const children = Map.groupBy(childrenOf(several.child.pid!), isWorker)
      each.push(...(children.get(true) ?? []).map(privateMemory))
      // The shell that supervises workers without a primary counts as part of the primary.
      const own = [several.child.pid!, ...(children.get(false) ?? [])]
      primary.push(own.map(privateMemory).reduce((sum, memory) => sum + memory))
      one.child.kill('SIGTERM')
      several.child.kill('SIGTERM')
    }
    // Beside the two workers there is a standby worker, which is no smaller.
    expect(each).toHaveLength(SERVERS * (WORKERS + 1))
    save('memory', { alone, each, primary })
    const list = (values: readonly number[]): string => values.map((value) => value.toFixed(1)).join(', ')
    await annotate(`private memory of the app in one process: ${list(alone)} MB`, 'evidence')
    await annotate(`of a worker: ${list(each)} MB; of the primary: ${list(primary)} MB`, 'evidence')
    expect(median(each) - median(alone)).toBeLessThanOrEqual(limits.memoryPerWorker)
    expect(Math.max(...primary)).toBeLessThanOrEqual(limits.primaryMemory)
  },
)

/**
 * An app in one process and in several, in JavaScript, as in the published package. The TypeScript compiler of Node takes
 * 20 MB of a process, and more with more files.
 */
function build(): [URL, URL] {
  const built = new URL('built/', folder)
  const config = join(ROOT, 'packages/clustered-server/tsconfig.build.json')
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', config, '--outDir', fileURLToPath(built)])
  const files = {
    'app.mjs': `import { createServer } from 'node:http'
export default () => createServer((_request, response) => response.end('{"hello":"world"}'))`,
    'single.mjs': `import app from './app.mjs'
const server = app().listen(0, '127.0.0.1', () => console.log('Listening on port:', server.address().port))`,
    'clustered.mjs': `import { createClusteredServer } from './index.js'
const url = new URL('./app.mjs', import.meta.url)
const server = await createClusteredServer(url, { workers: ${WORKERS}, port: 0, host: '127.0.0.1' })
console.log('Listening on port:', server.port)`,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(new URL(name, built), text)
  return [new URL('single.mjs', built), new URL('clustered.mjs', built)]
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
}

function isWorker(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('/worker/entry.js')
}

/** The processes that respond, of this number. */
async function workersOf(origin: string): Promise<Set<number>> {
  const workers = new Set<number>()
  for (const end = performance.now() + PATIENCE; workers.size < WORKERS && performance.now() < end;) {
    workers.add(await answeringPid(origin))
    // While that one is blocked, the other one responds.
    const blocked = request(`${origin}/blocking`, { reset: true }).then(({ body }) => body.dump())
    workers.add(await answeringPid(origin))
    await blocked
  }
  return workers
}

/** The process that responds to a new connection. Refused and lost connections try again. */
async function answeringPid(origin: string): Promise<number> {
  for (const end = performance.now() + PATIENCE; ;) {
    try {
      const { body } = await request(`${origin}/pid`, { reset: true, headersTimeout: PATIENCE })
      return ((await body.json()) as { pid: number }).pid
    } catch (error) {
      if (performance.now() > end) throw error
    }
  }
}

/** Megabytes that no other process shares. The code of Node, about 40 MB, is shared by all of them. */
function privateMemory(pid: number): number {
  const smaps = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return (Number(/^Private_Dirty:\s+(\d+) kB$/m.exec(smaps)![1]) * 1024) / 1e6
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

/** The smallest value that this share of the values does not exceed. */
function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1]!
}

function save(name: string, figures: unknown): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(figures, null, 2)}\n`)
}
