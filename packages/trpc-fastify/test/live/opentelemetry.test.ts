// A server whose http and undici are instrumented by `--import`, and a receiver of OTLP.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'

interface Span {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  /** 2 is a server, 3 a client. */
  readonly kind: number
  readonly attributes: { key: string; value: { stringValue?: string } }[]
}

const file = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))

const spans: Span[] = []
/** `traceparent` headers that the upstream got. */
const received: string[] = []
let receiver: FastifyInstance
let upstream: FastifyInstance
let server: ChildProcess
let origin: string

beforeAll(async () => {
  receiver = Fastify()
  receiver.post('/v1/traces', async (request) => {
    const { resourceSpans } = request.body as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
    return {}
  })
  upstream = Fastify()
  upstream.get('/', async ({ headers }) => received.push(String(headers['traceparent'])))
  const [receiverUrl, upstreamUrl] = await Promise.all(
    [receiver, upstream].map((app) => app.listen({ port: 0, host: '127.0.0.1' })),
  )
  server = fork(file('traced-server.ts'), {
    execArgv: ['--import', file('instrumentation.ts')],
    env: { ...process.env, OTLP_URL: `${receiverUrl}/v1/traces`, UPSTREAM_URL: upstreamUrl },
  })
  ;[origin] = (await once(server, 'message')) as [string]
})

afterAll(async () => {
  server.kill('SIGKILL')
  await Promise.all([receiver.close(), upstream.close()])
})

beforeEach(() => {
  spans.length = 0
  received.length = 0
})

const JSON_BODY = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' }

it.each([
  ['a query', 'read', {}, ['read'], 1],
  ['a mutation with a body', 'save', JSON_BODY, ['save'], 1],
  ['a batch', 'read,read?batch=1', {}, ['read', 'read'], 2],
  ['a streamed batch', 'read,read?batch=1', { headers: { 'trpc-accept': 'application/jsonl' } }, ['read', 'read'], 2],
  ['a subscription', 'events', {}, ['events'], 2],
])('%s has one trace from HTTP to the upstream', async (_title, path, init, calls, upstreamCalls) => {
  await (await fetch(`${origin}/trpc/${path}`, init)).text()
  await expect.poll(() => spans.length).toBe(1 + calls.length + upstreamCalls)
  const [http] = spans.filter(({ kind, parentSpanId }) => kind === 2 && !parentSpanId)
  expect(http!.attributes).toContainEqual({ key: 'http.route', value: { stringValue: '/trpc/:path' } })
  expect(http!.name).toBe(`${init === JSON_BODY ? 'POST' : 'GET'} /trpc/:path`)
  const ofCalls = spans.filter(({ parentSpanId }) => parentSpanId === http!.spanId)
  expect(ofCalls.map(({ name, kind }) => [name, kind])).toEqual(calls.map((name) => [name, 2]))
  const toUpstream = spans.filter(({ kind }) => kind === 3)
  const parents = new Set(ofCalls.map(({ spanId }) => spanId))
  expect(new Set(toUpstream.map(({ parentSpanId }) => parentSpanId))).toEqual(parents)
  expect(received.toSorted()).toEqual(toUpstream.map((one) => `00-${one.traceId}-${one.spanId}-01`).toSorted())
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
})

it('the span of a request for an unknown procedure has the route', async () => {
  expect((await fetch(`${origin}/trpc/unknown`)).status).toBe(404)
  await expect.poll(() => spans.length).toBe(1)
  expect(spans[0]!.name).toBe('GET /trpc/:path')
})
