// The same requests to `next start` and to this package, both with the SDK. This test collects their spans.

import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { NextPluginOptions } from 'next-on-fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUILD_TIMEOUT, builtFixture } from '../helpers/built-fixture.ts'

interface Span {
  readonly name: string
  readonly kind: number
  readonly status: number
  readonly traceId: string
  readonly spanId: string
  readonly parentId?: string
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A server that sends its spans. */
interface Traced {
  readonly origin: string
  readonly spans: readonly Span[]
}

const program = (name: string): string => fileURLToPath(new URL(`../fixtures/servers/${name}`, import.meta.url))
const SDK = ['--import', program('tracing.ts')]
const PRODUCTION = { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' } as const

const children: ChildProcess[] = []
const copies: string[] = []
let next: Traced
let ours: Traced

beforeAll(async () => {
  const built = await builtFixture('newest', {}, 'direct')
  ;[next, ours] = await Promise.all([startNext(copyOf(built)), startOurs(copyOf(built))])
}, BUILD_TIMEOUT)

afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  for (const copy of copies) rmSync(copy, { recursive: true })
})

/** Servers of one folder would share rendered pages. */
function copyOf(built: string): string {
  const dir = mkdtempSync(join(built, '../copy-'))
  cpSync(built, dir, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  copies.push(dir)
  return dir
}

function collect(child: ChildProcess): Span[] {
  children.push(child)
  const spans: Span[] = []
  child.on('message', (message: { readonly span?: Span }) => {
    if (message.span !== undefined) spans.push(message.span)
  })
  return spans
}

async function startNext(cwd: string): Promise<Traced> {
  const bin = join(realpathSync(join(cwd, 'node_modules/next')), 'dist/bin/next')
  const args = ['start', '--port', '0', '--hostname', '127.0.0.1']
  const child = fork(bin, args, { cwd, env: PRODUCTION, execArgv: SDK, stdio: ['ignore', 'pipe', 'ignore', 'ipc'] })
  const spans = collect(child)
  const origin = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.stdout!.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? []
      if (found !== undefined) resolve(found)
    })
    child.once('exit', () => reject(new Error('`next start` has ended')))
  })
  return { origin, spans }
}

async function startOurs(dir: string): Promise<Traced> {
  const options: NextPluginOptions = { dir, bypassRouter: 'all', responseCache: { cacheStatus: true } }
  const env = { ...PRODUCTION, OPTIONS: JSON.stringify(options) }
  const child = fork(program('sharing.ts'), { env, execArgv: SDK, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  const spans = collect(child)
  const origin = await new Promise<string>((resolve, reject) => {
    child.on('message', (message) => {
      if (typeof message === 'string') resolve(message)
    })
    child.once('exit', () => reject(new Error('the server has ended')))
  })
  return { origin, spans }
}

interface Request {
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request that continues a trace. */
async function send({ origin }: Traced, { path, headers }: Request) {
  const [traceId, clientId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')]
  const options = { headers: { traceparent: `00-${traceId}-${clientId}-01`, ...headers }, agent: false }
  const [response] = (await once(get(origin + path, options), 'response')) as [IncomingMessage]
  const body = await text(response)
  return { traceId, clientId, body, cache: response.headers['cache-status']?.toString() }
}

/** The spans of a request, by type, with their parents. */
async function trace(server: Traced, request: Request) {
  const { traceId, clientId, ...response } = await send(server, request)
  // Spans end in order, and the last one soon after the response.
  const { traceId: later } = await send(server, { path: '/none' })
  await expect.poll(() => server.spans.some((span) => span.traceId === later && isRequest(span))).toBe(true)
  const found = server.spans.filter((span) => span.traceId === traceId)
  const parentOf = ({ parentId }: Span): unknown =>
    parentId === clientId ? 'the client' : found.find(({ spanId }) => spanId === parentId)?.name
  const described = found.map((span) => ({ ...fields(span), parent: parentOf(span) }))
  const typeOf = ({ attributes }: ReturnType<typeof fields>): string => String(attributes['next.span_type'])
  return {
    ...response,
    traceId,
    ids: found.map(({ spanId }) => spanId),
    spans: described.toSorted((a, b) => typeOf(a).localeCompare(typeOf(b))),
  }
}

const isRequest = ({ attributes }: Span): boolean => attributes['next.span_type'] === 'BaseServer.handleRequest'

function fields({ name, kind, status, attributes }: Span) {
  // How much Next loads in between.
  const { 'next.clientComponentLoadCount': _, ...rest } = attributes
  return { name, kind, status, attributes: rest }
}

/** Spans of steps that a fast path skips. */
const SKIPPED = {
  bypassed: ['LoadComponents.loadRouteModule', 'NextNodeServer.findPageComponents'],
  cached: [
    'LoadComponents.loadRouteModule',
    'NextNodeServer.findPageComponents',
    'NextNodeServer.startResponse',
    'RouteModule.prepare',
  ],
  'bypassed to the render server': [],
  routed: [],
} as const
type Way = keyof typeof SKIPPED

/** How this package has served a request. The router bypass comes before the cache. */
function wayOf(cache: string | undefined): Way {
  if (cache === undefined) return 'bypassed'
  return cache.includes('hit') ? 'cached' : 'routed'
}

const session = { cookie: 'session=me' }

it.each<[string, Way, Request, string | undefined]>([
  ['a dynamic page', 'bypassed', { path: '/ssr?a=1' }, '/ssr'],
  ['a dynamic page with a parameter', 'bypassed', { path: '/items/7' }, '/items/[id]'],
  ['a page that throws', 'bypassed', { path: '/throws' }, '/throws'],
  ['a dynamic page of the Pages Router', 'bypassed', { path: '/old/ssr' }, '/old/ssr'],
  ['a route handler', 'bypassed', { path: '/deep/a/b' }, '/deep/[...parts]'],
  ['a route handler that throws', 'bypassed', { path: '/handlers/throws' }, '/handlers/throws'],
  ['an API route that throws', 'bypassed', { path: '/api/throws' }, '/api/throws'],
  ['an API route', 'bypassed', { path: '/api/users/7' }, '/api/users/[id]'],
  [
    'RSC data of a dynamic page',
    'bypassed to the render server',
    { path: '/ssr?_rsc=1', headers: { rsc: '1' } },
    '/ssr',
  ],
  ['a page that is rendered at build', 'cached', { path: '/' }, '/'],
  ['a page with a parameter that is rendered at build', 'cached', { path: '/posts/first' }, '/posts/[slug]'],
  ['a page that is revalidated', 'cached', { path: '/isr' }, '/isr'],
  ['a page of the Pages Router that is rendered at build', 'cached', { path: '/old/static' }, '/old/static'],
  ['a cached route handler', 'cached', { path: '/still' }, '/still'],
  ['a cached page behind middleware', 'cached', { path: '/guarded/still', headers: session }, '/guarded/still'],
  ['a route handler behind middleware', 'routed', { path: '/guarded', headers: session }, '/guarded'],
  ['middleware that responds', 'routed', { path: '/guarded' }, undefined],
  ['a file', 'cached', { path: '/hello.txt' }, undefined],
  ['a missing page', 'routed', { path: '/none' }, undefined],
])('%s, %s, has the spans of `next start`', async (_name, way, request, route) => {
  // Next loads the route for the first request, and this package learns how to serve it.
  expect((await trace(ours, request)).spans).toEqual((await trace(next, request)).spans)

  const expected = await trace(next, request)
  const found = await trace(ours, request)
  expect(way).toMatch(wayOf(found.cache))
  const skipped: ReadonlySet<unknown> = new Set(SKIPPED[way])
  expect(found.spans).toEqual(expected.spans.filter(({ attributes }) => !skipped.has(attributes['next.span_type'])))
  const routes = found.spans.flatMap(({ attributes }) => attributes['http.route'] ?? [])
  expect(routes).toEqual(route === undefined ? [] : [route])
})

describe('code of the app runs in the span of its request', () => {
  it.each(['/traced', '/handlers/traced'])('%s', async (path) => {
    const ways: Way[] = []
    for (let turn = 0; turn < 2; turn++) {
      const { traceId, ids, body, cache } = await trace(ours, { path })
      const [, inTrace, inSpan] = /00-(\w{32})-(\w{16})-01/.exec(body)!
      expect([inTrace, ids.includes(inSpan!)]).toEqual([traceId, true])
      ways.push(wayOf(cache))
    }
    expect(ways).toEqual(['routed', 'bypassed'])
  })
})
