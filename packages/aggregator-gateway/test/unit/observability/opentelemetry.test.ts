// With the SDK, and its exporter that keeps spans in memory.

import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  AlwaysOffSampler,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import Fastify from 'fastify'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { gatewayPlugin } from '../../../src/index.ts'
import { openTelemetryObserver } from '../../../src/observability/opentelemetry.ts'
import type { CallOptions } from '../../../src/index.ts'
import { gateway, jsonUpstream, nobody, sendJson, upstream } from '../../helpers/servers.ts'

const exporter = new InMemorySpanExporter()
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })

beforeEach(() => {
  exporter.reset()
  trace.setGlobalTracerProvider(provider)
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
})

afterEach(() => {
  trace.disable()
  propagation.disable()
  context.disable()
})

const span = (name: string): ReadableSpan => exporter.getFinishedSpans().find((one) => one.name === name)!

const traced = (origin: string, calls: Record<string, Omit<CallOptions, 'upstream'>>) =>
  gateway({
    upstreams: { it: { origin, retryBudget: 1 } },
    endpoints: [
      {
        path: '/of/:id',
        calls: Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, { upstream: 'it', ...call }])),
      },
    ],
    observers: [openTelemetryObserver()],
  })

it('starts a client span for each call, without values of clients in attributes', async () => {
  const origin = await jsonUpstream(() => 1)
  const app = await traced(origin, { one: { path: '/users/{params.id}' } })
  expect((await app.inject('/of/secret')).statusCode).toBe(200)
  const { kind, attributes, status, ended } = span('GET /users/{params.id}')
  expect({ kind, attributes, status, ended }).toEqual({
    kind: SpanKind.CLIENT,
    attributes: {
      'http.request.method': 'GET',
      'url.template': '/users/{params.id}',
      'url.scheme': 'http',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(origin).port),
      'http.response.status_code': 200,
      'gateway.route': 'GET /of/:id',
      'gateway.call': 'one',
      'gateway.upstream': 'it',
    },
    status: { code: SpanStatusCode.UNSET },
    ended: true,
  })
})

it('continues the trace of the request, and sends it to the upstream', async () => {
  const seen: unknown[] = []
  const origin = await jsonUpstream((_, { headers }) => seen.push(headers['traceparent']))
  const app = await traced(origin, { one: { path: '/one' }, two: { path: '/two/{calls.one}' } })
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  await app.inject({ url: '/of/7', headers: { traceparent } })
  const spans = [span('GET /one'), span('GET /two/{calls.one}')]
  expect(spans.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([
    'b7ad6b7169203331',
    'b7ad6b7169203331',
  ])
  expect(seen).toEqual(spans.map((one) => `00-0af7651916cd43dd8448eb211c80319c-${one.spanContext().spanId}-01`))
})

it('starts one trace per request without one, by a span around its calls', async () => {
  const seen: string[] = []
  const origin = await jsonUpstream((path, { headers }) => {
    seen.push(String(headers['traceparent']))
    return path
  })
  const app = await traced(origin, {
    one: { path: '/one' },
    two: { path: '/two' },
    three: { path: '/three/{calls.one}', allowEncodedSlash: true },
  })
  for (const _ of [1, 2]) await app.inject('/of/7')
  await expect.poll(() => exporter.getFinishedSpans().length).toBe(8)
  const finished = exporter.getFinishedSpans()
  const roots = finished.filter(({ name }) => name === 'GET /of/:id')
  expect(roots.map(({ kind, parentSpanContext, attributes }) => [kind, parentSpanContext, attributes])).toEqual(
    Array.from({ length: 2 }, () => [
      SpanKind.INTERNAL,
      undefined,
      { 'http.request.method': 'GET', 'http.route': '/of/:id' },
    ]),
  )
  expect(new Set(finished.map((one) => one.spanContext().traceId)).size).toBe(2)
  for (const root of roots) {
    const { traceId, spanId } = root.spanContext()
    const calls = finished.filter(({ parentSpanContext }) => parentSpanContext?.spanId === spanId)
    expect(calls.map(({ name }) => name).toSorted()).toEqual(['GET /one', 'GET /three/{calls.one}', 'GET /two'])
    expect(seen.filter((one) => one.includes(traceId))).toHaveLength(3)
    // It ends after the last of them: spans are finished in that order.
    for (const call of calls) expect(finished.indexOf(root)).toBeGreaterThan(finished.indexOf(call))
  }
})

it('makes spans children of the active span, also for dependent calls', async () => {
  const origin = await jsonUpstream((path) => path)
  const app = Fastify()
  // As instrumentations do.
  app.addHook('onRequest', (request, _reply, done) => {
    const server = trace.getTracer('server').startSpan(`server ${request.url}`)
    context.with(trace.setSpan(context.active(), server), done)
    server.end()
  })
  await app.register(gatewayPlugin, {
    upstreams: { it: { origin, maxConnections: 1 } },
    endpoints: [
      {
        path: '/:id',
        calls: {
          one: { upstream: 'it', path: '/{params.id}' },
          two: { upstream: 'it', path: '/two/{params.id}/{calls.one}', allowEncodedSlash: true },
        },
      },
    ],
    observers: [openTelemetryObserver()],
  })
  // They share a connection, which was made for the first: its context is no one else's.
  await Promise.all(['/a', '/b', '/c'].map((url) => app.inject(url)))
  const finished = exporter.getFinishedSpans()
  for (const url of ['/a', '/b', '/c']) {
    const { spanId } = span(`server ${url}`).spanContext()
    const children = finished.filter(({ parentSpanContext }) => parentSpanContext?.spanId === spanId)
    expect(children.map(({ name }) => name)).toEqual(['GET /{params.id}', 'GET /two/{params.id}/{calls.one}'])
  }
  await app.close()
})

it.each([
  ['an error status', () => upstream((_, response) => void response.writeHead(404).end()), '404', 404],
  ['an invalid response', () => upstream((_, response) => sendJson(response, '{')), 'body', 200],
  ['a missing response', nobody, 'connection', undefined],
])('marks %s as an error', async (_title, makeOrigin, type, code) => {
  const app = await traced(await makeOrigin(), { one: { path: '/one', optional: true } })
  await app.inject('/of/7')
  const { status, attributes, events } = span('GET /one')
  expect(status.code).toBe(SpanStatusCode.ERROR)
  expect(status.message).toMatch(/respond/)
  expect([attributes['error.type'], attributes['http.response.status_code']]).toEqual([type, code])
  expect(events.map(({ name }) => name)).toEqual(type === '404' ? [] : ['exception'])
})

it('does not mark an aborted call as an error', async () => {
  const origin = await upstream((request, response) => {
    if (request.url === '/fails') response.writeHead(404).end()
  })
  const app = await traced(origin, { hangs: { path: '/hangs' }, fails: { path: '/fails' } })
  await app.inject('/of/7')
  const { status, attributes } = span('GET /hangs')
  expect([status.code, attributes['gateway.reason'], attributes['error.type']]).toEqual([
    SpanStatusCode.UNSET,
    'aborted',
    undefined,
  ])
})

it('has the number of retries of a call', async () => {
  let asked = 0
  const origin = await upstream((_, response) => {
    if (++asked === 1) response.writeHead(503, { 'retry-after': '0' }).end()
    else sendJson(response, '1')
  })
  const app = await traced(origin, { one: { path: '/one', retries: 1 } })
  expect((await app.inject('/of/7')).statusCode).toBe(200)
  expect(span('GET /one').attributes['http.request.resend_count']).toBe(1)
})

it('uses the given tracer, and sends its sampling decision', async () => {
  const seen: unknown[] = []
  const origin = await jsonUpstream((_, { headers }) => seen.push(headers['traceparent']))
  const unsampled = new TracerProvider({
    sampler: new AlwaysOffSampler(),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  })
  const app = await gateway({
    upstreams: { it: origin },
    endpoints: [{ path: '/', calls: { one: { upstream: 'it', path: '/' } } }],
    observers: [openTelemetryObserver({ tracer: unsampled.getTracer('mine') })],
  })
  await app.inject('/')
  expect(seen).toEqual([expect.stringMatching(/-00$/)])
  expect(exporter.getFinishedSpans()).toEqual([])
})

it('does nothing without a registered SDK', async () => {
  trace.disable()
  propagation.disable()
  const seen: unknown[] = []
  const app = await traced(await jsonUpstream((_, { headers }) => seen.push(headers['traceparent'])), {
    one: { path: '/one' },
  })
  expect((await app.inject('/of/7')).statusCode).toBe(200)
  expect([seen, exporter.getFinishedSpans()]).toEqual([[undefined], []])
})

it.each([
  ['an unknown option', { name: 'mine' }, 'Invalid option "name": unknown. Known here: tracer.'],
  [
    'an object that is not a tracer',
    { tracer: {} },
    'Invalid option "tracer": expected a tracer of OpenTelemetry, got an object.',
  ],
])('rejects %s', (_title, options, message) => {
  expect(() => openTelemetryObserver(options as never)).toThrow(
    expect.objectContaining({ code: 'AGGREGATOR_GATEWAY_INVALID_OPTION', message }) as Error,
  )
})
