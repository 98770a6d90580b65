// Many requests of all kinds while pages are revalidated each second: no answer is older than a revalidation that had
// returned before it was asked for, each says what it must, and nothing is left behind. SOAK=1000000 makes it long.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Remains } from '../fixtures/servers/soaked.ts'
import { BUILD_TIMEOUT, builtFixture } from '../helpers/built-fixture.ts'

const REQUESTS = Number(process.env['SOAK'] ?? 8000)
const CLIENTS = 20
/** Of a hundred requests, so many whose client goes away. */
const ABORTED = 4
/** Milliseconds between two revalidations. */
const REVALIDATE_EVERY = 1000
/** Requests that are on their way when a revalidation begins, and are made again when it has returned. */
const RACERS = 20
/** Bytes of buffers that may be on their way when they are counted. */
const MOST_BUFFERS = 16 * 1024 * 1024
/** What a request of a slow and busy machine takes at the most, in milliseconds: the shortest soak is given much more. */
const SLOWEST = 20

/** Versions that an answer may be of: none is older than the last that was known when it was asked for. */
interface Versions {
  /** The last whose revalidation has returned. */
  known: number
  /** The last whose revalidation has begun. */
  begun: number
}

/** What came back. */
interface Answer {
  readonly status: number
  readonly etag: string
  readonly text: string
}

let dir: string
let server: ChildProcess
let origin: string
let file: string
/** The URL of the data of the page for the App Router, with its hash. */
let rsc: string
const dispatcher = new Agent({ connections: CLIENTS + RACERS + 1, pipelining: 1 })

beforeAll(async () => {
  const built = await builtFixture('newest', {}, 'cached')
  dir = mkdtempSync(join(built, '../soak-'))
  cpSync(built, dir, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  file = readFileSync(join(dir, 'public/big.txt'), 'utf8')
  server = fork(fileURLToPath(new URL('../fixtures/servers/soaked.ts', import.meta.url)), [dir], {
    execArgv: ['--expose-gc'],
    env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
  })
  const [{ port }] = (await once(server, 'message')) as [AddressInfo]
  origin = `http://127.0.0.1:${port}`
  const redirect = await fetch(`${origin}/versioned`, { headers: { rsc: '1' }, redirect: 'manual' })
  rsc = redirect.headers.get('location') ?? '/versioned'
}, BUILD_TIMEOUT)

afterAll(async () => {
  await dispatcher.destroy()
  server.kill('SIGKILL')
  rmSync(dir, { recursive: true })
})

async function ask(path: string, headers: Record<string, string> = {}, body?: string): Promise<Answer> {
  const method = body === undefined ? 'GET' : 'POST'
  const answer = await request(origin + path, { dispatcher, method, headers, ...(body !== undefined && { body }) })
  const bytes = Buffer.from(await answer.body.arrayBuffer())
  const coded = answer.headers['content-encoding'] === 'gzip'
  demand(coded === (headers === GZIP && answer.statusCode === 200), `content-encoding ${coded ? 'gzip' : 'none'}`)
  const text = (coded ? await promisify(gunzip)(bytes) : bytes).toString()
  return { status: answer.statusCode, etag: String(answer.headers['etag']), text }
}

function demand(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what)
}

/** The version that an answer is of, of which all lines must be there once, and no line of another one. */
function versionOf({ status, text }: Answer, line = />Line (\d+), version (\d+)\.</g): number {
  demand(status === 200, `status ${status}`)
  const lines = [...text.matchAll(line)]
  demand(lines.length === 40 && lines.every(([, number], index) => Number(number) === index), `lines: ${lines.join()}`)
  const versions = new Set([...text.matchAll(/version (\d+)\./g)].map(([, version]) => Number(version)))
  demand(versions.size === 1, `versions ${[...versions].join()} in one answer`)
  return [...versions][0]!
}

const GZIP = { 'accept-encoding': 'gzip' }

/** Entity tags of the page, with the version that it had. */
const tags = new Map<string, number>()
let lastTag = ''
/** The newest render of the page with a short lifetime that anybody has seen. */
let lastRender = 0

async function page(headers: Record<string, string>, query = ''): Promise<number> {
  const answer = await ask(`/versioned${query}`, headers)
  if (answer.status === 304) {
    demand(headers['if-none-match'] === answer.etag && answer.text === '', `304 for ${answer.etag}: ${answer.text}`)
    return tags.get(answer.etag)!
  }
  const version = versionOf(answer)
  demand((tags.get(answer.etag) ?? version) === version, `one tag for versions ${tags.get(answer.etag)} and ${version}`)
  tags.set(answer.etag, version)
  lastTag = answer.etag
  return version
}

/** Each asks once, demands what the answer must be, and gives the version that it is of, if it has one. */
const kinds: Readonly<Record<string, (number: number) => Promise<number | void>>> = {
  page: () => page({}),
  'page, compressed': () => page(GZIP),
  'page that the client has': () => page(lastTag ? { 'if-none-match': lastTag } : {}),
  'page for the App Router': async () => versionOf(await ask(rsc, { rsc: '1' }), /"Line (\d+), version (\d+)\."/g),
  'page by its tag': async (number) => versionOf(await ask('/versioned/tagged', number % 2 ? GZIP : {})),
  'page of the Pages Router': async (number) => versionOf(await ask('/versioned-old', number % 2 ? GZIP : {})),
  'cached route handler': async () => versionOf(await ask('/versioned/data'), /"Line (\d+), version (\d+)\."/g),
  'page of a short lifetime': async () => {
    const seen = lastRender
    const { status, text } = await ask('/isr')
    const render = Number(/<h1>render (?:<!-- -->)?(\d+)<\/h1>/.exec(text)?.[1])
    demand(status === 200 && render >= seen, `${status}, render ${render} after ${seen}`)
    lastRender = Math.max(lastRender, render)
  },
  file: async (number) => {
    const { status, text } = await ask('/big.txt', number % 2 ? GZIP : {})
    demand(status === 200 && text === file, `${status}, ${text.length} characters`)
  },
  api: async (number) => {
    const { status, text } = await ask(`/api/echo?n=${number}`, { 'content-type': 'text/plain' }, `body ${number}`)
    const right = JSON.stringify({ query: { n: String(number) }, body: `body ${number}` })
    demand(status === 200 && text === right, `${status}, ${text}`)
  },
  'page for each request': async (number) => {
    const answer = await ask(`/versioned/live?n=${number}`)
    demand(answer.text.includes(`asked <!-- -->${number}<!-- -->.`), `not asked ${number}: ${answer.text}`)
    return versionOf(answer)
  },
}

/** The hundred that come again and again: what is kept is asked for the most. */
const shares: readonly (readonly [kind: keyof typeof kinds, times: number])[] = [
  ['page', 20],
  ['page, compressed', 14],
  ['page that the client has', 12],
  ['page for the App Router', 10],
  ['page by its tag', 10],
  ['page of the Pages Router', 8],
  ['cached route handler', 6],
  ['page of a short lifetime', 4],
  ['file', 8],
  ['api', 4],
  ['page for each request', 4],
]
const turns = shares.flatMap(([kind, times]) => Array.from({ length: times }, () => kind))

const faults: string[] = []
const versions: Versions = { known: 0, begun: 0 }

async function visit(kind: keyof typeof kinds, number: number): Promise<void> {
  await check(`${kind}, request ${number}`, () => kinds[kind]!(number))
}

async function check(title: string, asks: () => Promise<number | void>): Promise<void> {
  const { known } = versions
  try {
    const version = await asks()
    if (version === undefined) return
    demand(version >= known && version <= versions.begun, `version ${version}, asked for after ${known}`)
  } catch (error) {
    faults.push(`${title}: ${(error as Error).message.slice(0, 500)}`)
  }
}

/** A client that goes away before or while it is answered. */
async function leave(number: number): Promise<void> {
  const path = ['/versioned/live', '/versioned', '/big.txt'][number % 3]!
  const signal = AbortSignal.timeout(number % 8)
  await request(`${origin}${path}?n=${number}`, { dispatcher, signal })
    .then(({ body }) => body.dump())
    .catch(() => {})
}

it(
  'shows no stale and no wrong answer, and keeps neither memory nor sockets nor timers',
  { timeout: Math.max(300_000, REQUESTS * SLOWEST) },
  async () => {
    expect(turns).toHaveLength(100)
    let sent = 0
    const client = async (until: number): Promise<void> => {
      while (sent < until) {
        const number = sent++
        if (number % 100 < ABORTED) await leave(number)
        // Prime to a hundred: kinds come mixed, and each of them in all its turns.
        else await visit(turns[(number * 37) % 100]!, number)
      }
    }
    const remains = async (): Promise<Remains> => {
      server.send('what remains?')
      return ((await once(server, 'message')) as [Remains])[0]
    }
    const after = async (until: number): Promise<Remains> => {
      await Promise.all(Array.from({ length: CLIENTS }, () => client(until)))
      return remains()
    }

    const ended = new AbortController()
    const revalidating = (async () => {
      while (!ended.signal.aborted) {
        const to = ++versions.begun
        // Of URLs that nobody has asked for: what Next has read for them before the change must not be kept after it.
        const race = (apart: number): Promise<void>[] =>
          Array.from({ length: RACERS }, async (_, racer) => {
            await sleep(racer * apart)
            await check(`racer ${racer} of ${to}`, () => page({}, `?turn=${to}&racer=${racer}`))
          })
        const changing = ask(`/versioned/change?to=${to}`)
        // Some of them are answered while it is made.
        const racing = race(1)
        const changed = await changing
        const old = await ask('/api/revalidate?path=/versioned-old')
        expect([changed.text, old.text]).toEqual(['changed', '{"revalidated":true}'])
        versions.known = to
        await Promise.all(racing)
        await Promise.all(race(0))
        // All are made before the next change. What Next begins to make before one and has made after it is old, and
        // Next keeps that for fresh.
        for (const kind of Object.keys(kinds)) await visit(kind, 1)
        await sleep(REVALIDATE_EVERY, undefined, { signal: ended.signal }).catch(() => {})
      }
    })()
    // Caches fill and code is compiled first; after that, nothing may grow.
    const early = await after(REQUESTS / 4)
    const late = await after(REQUESTS)
    ended.abort()
    await revalidating
    console.log(`after ${REQUESTS / 4} and ${REQUESTS} requests, ${versions.known} revalidations:`, early, late)

    expect(faults.slice(0, 5)).toEqual([])
    expect(versions.known).toBeGreaterThan(2)
    expect(late.counts.invalidated).toBeGreaterThan(versions.known)
    expect(late.counts.hits).toBeGreaterThan(REQUESTS / 2)
    // Of a hundred requests, eight are for what is made each time.
    expect(late.direct).toBeGreaterThan(REQUESTS / 20)
    expect(late.heap).toBeLessThan(early.heap * 1.2)
    expect(late.buffers).toBeLessThan(early.buffers + MOST_BUFFERS)
    expect(late.handles).toBeLessThanOrEqual(early.handles + RACERS)
    expect(late.timers).toBeLessThanOrEqual(early.timers + CLIENTS)
  },
)
