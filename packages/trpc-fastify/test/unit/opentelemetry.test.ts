// With the SDK, and its exporter that keeps spans in memory. Names of attributes are those of the stable conventions.

import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import websocket from '@fastify/websocket'
import { context, createContextKey, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_ROUTE,
  ATTR_RPC_METHOD,
  ATTR_RPC_STATUS_CODE,
  ATTR_RPC_SYSTEM_NAME,
} from '@opentelemetry/semantic-conventions'
import { initTRPC, TRPCError } from '@trpc/server'
import Fastify, { type FastifyInstance } from 'fastify'
import { trpcPlugin, type TrpcObserver } from 'trpc-fastify'
import { openTelemetryObserver } from 'trpc-fastify/opentelemetry'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { FAST_PATHS } from '../helpers/fast-paths.ts'
import { Journal } from '../helpers/journal.ts'

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

const spanId = (): string | undefined => trace.getActiveSpan()?.spanContext().spanId

const t = initTRPC.create({ isDev: false })
const traced = t.procedure.use(async ({ next }) => {
  await new Promise(setImmediate)
  return next({ ctx: { inMiddleware: spanId() } })
})
const router = t.router({
  active: traced.input((value) => value).query(({ ctx }) => [ctx.inMiddleware, spanId()]),
  save: traced.mutation(({ ctx }) => [ctx.inMiddleware, spanId()]),
  refused: t.procedure.query(() => {
    throw new TRPCError({ code: 'FORBIDDEN', message: 'Not for you' })
  }),
  broken: t.procedure.query(() => {
    throw new RangeError('out of everything')
  }),
  values: t.procedure.query(async function* () {
    yield spanId()
    await new Promise(setImmediate)
    yield spanId()
  }),
  events: t.procedure.subscription(async function* () {
    yield spanId()
    await new Promise(setImmediate)
    yield spanId()
  }),
  wait: t.procedure.subscription(async function* ({ signal }) {
    yield spanId()
    await once(signal!, 'abort')
  }),
})

async function serve(
  fastPath = true,
  observers: readonly TrpcObserver[] = [openTelemetryObserver()],
  prepare: (app: FastifyInstance) => unknown = () => {},
): Promise<FastifyInstance> {
  const app = Fastify({ forceCloseConnections: true })
  onTestFinished(() => app.close())
  await app.register(websocket)
  await prepare(app)
  await app.register(trpcPlugin, { prefix: '/trpc', trpcOptions: { router }, useWSS: true, fastPath, observers })
  return app
}

const finished = async (count: number): Promise<readonly ReadableSpan[]> => {
  await expect.poll(() => exporter.getFinishedSpans().length).toBe(count)
  return exporter.getFinishedSpans()
}

const idsIn = (text: string): string[] => text.match(/"[\da-f]{16}"/g) ?? []
const quotedId = (span: ReadableSpan): string => JSON.stringify(span.spanContext().spanId)

const PARENT = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }

describe.each(FAST_PATHS)('with fastPath %s', (fastPath) => {
  it('starts a server span for a call, without values of clients in attributes', async () => {
    const app = await serve(fastPath)
    const { body } = await app.inject('/trpc/active?input="secret"')
    const [span, ...others] = await finished(1)
    const { name, kind, attributes, status } = span!
    expect({ name, kind, attributes, status, others }).toEqual({
      name: 'active',
      kind: SpanKind.SERVER,
      attributes: { [ATTR_RPC_SYSTEM_NAME]: 'trpc', [ATTR_RPC_METHOD]: 'active', 'trpc.procedure.type': 'query' },
      status: { code: SpanStatusCode.UNSET },
      others: [],
    })
    expect(idsIn(body)).toEqual([quotedId(span!), quotedId(span!)])
  })

  it.each([{}, { 'trpc-accept': 'application/jsonl' }])(
    'starts a span for each call of a batch, active in its middlewares and resolver: %o',
    async (headers) => {
      const app = await serve(fastPath)
      const { body } = await app.inject({
        url: '/trpc/active,active,refused?batch=1',
        headers: { ...headers, ...PARENT },
      })
      const spans = await finished(3)
      const ids = spans.filter(({ name }) => name === 'active').map(quotedId)
      expect(idsIn(body).toSorted()).toEqual([...ids, ...ids].toSorted())
      expect(new Set(spans.map(({ attributes }) => attributes['trpc.batch.index']))).toEqual(new Set([0, 1, 2]))
      expect(spans.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(
        Array.from({ length: 3 }, () => 'b7ad6b7169203331'),
      )
    },
  )

  it('is active in a mutation', async () => {
    const app = await serve(fastPath)
    const { body } = await app.inject({ method: 'POST', url: '/trpc/save', payload: {} })
    const [span] = await finished(1)
    expect(idsIn(body)).toEqual([quotedId(span!), quotedId(span!)])
    expect(span!.attributes['trpc.procedure.type']).toBe('mutation')
  })

  it('is active in each step of a subscription, and ends after its last event', async () => {
    const app = await serve(fastPath)
    const { body } = await app.inject('/trpc/events')
    const [span] = await finished(1)
    expect(idsIn(body)).toEqual([quotedId(span!), quotedId(span!)])
  })

  it('is active in each step of a streamed result', async () => {
    const app = await serve(fastPath)
    const { body } = await app.inject({ url: '/trpc/values?batch=1', headers: { 'trpc-accept': 'application/jsonl' } })
    const [span] = await finished(1)
    expect(idsIn(body)).toEqual([quotedId(span!), quotedId(span!)])
  })

  it('ends when a streamed result has no reader', async () => {
    const app = await serve(fastPath)
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    const response = await fetch(`${address}/trpc/values?batch=1`)
    expect(response.status).toBe(415)
    await finished(1)
  })

  it('ends when the client of a subscription leaves', async () => {
    const app = await serve(fastPath)
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    const controller = new AbortController()
    const response = await fetch(`${address}/trpc/wait`, { signal: controller.signal })
    await response.body!.getReader().read()
    expect(exporter.getFinishedSpans()).toHaveLength(0)
    controller.abort()
    const [span] = await finished(1)
    expect(span!.status.code).toBe(SpanStatusCode.UNSET)
  })

  it('sets the status of errors of the server, and not of errors of the client', async () => {
    const app = await serve(fastPath)
    for (const path of ['refused', 'broken']) await app.inject(`/trpc/${path}`)
    const [refused, broken] = await finished(2)
    expect(refused).toMatchObject({
      attributes: { [ATTR_RPC_STATUS_CODE]: 'FORBIDDEN' },
      status: { code: SpanStatusCode.UNSET },
      events: [],
    })
    expect(broken).toMatchObject({
      attributes: { [ATTR_RPC_STATUS_CODE]: 'INTERNAL_SERVER_ERROR', [ATTR_ERROR_TYPE]: 'INTERNAL_SERVER_ERROR' },
      status: { code: SpanStatusCode.ERROR, message: 'out of everything' },
    })
    expect(broken!.events[0]!.attributes).toMatchObject({ 'exception.type': 'RangeError' })
  })

  it('is a child of the active span', async () => {
    let outer = ''
    const app = await serve(fastPath, undefined, (instance) => {
      instance.addHook('preHandler', (_request, _reply, done) => {
        const span = trace.getTracer('test').startSpan('outer')
        outer = span.spanContext().spanId
        context.with(trace.setSpan(context.active(), span), done)
      })
    })
    await app.inject({ url: '/trpc/active', headers: PARENT })
    const [span] = await finished(1)
    expect(span!.parentSpanContext?.spanId).toBe(outer)
  })

  it('sets the route on the span of the HTTP instrumentation, also for unknown procedures', async () => {
    const key = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA')
    for (const path of ['active', 'unknown']) {
      const span = provider.getTracer('http').startSpan('GET')
      const metadata = { type: 'http', span, route: undefined }
      const app = await serve(fastPath, undefined, (instance) => {
        instance.addHook('onRequest', (_request, _reply, done) => {
          context.with(context.active().setValue(key, metadata), done)
        })
      })
      await app.inject(`/trpc/${path}`)
      expect(metadata.route).toBe('/trpc/:path')
      expect((span as unknown as ReadableSpan).attributes).toEqual({ [ATTR_HTTP_ROUTE]: '/trpc/:path' })
    }
  })

  it('responds as without an observer if the tracer throws, and logs it once', async () => {
    const lines = new Journal<string>()
    const failing = {
      startSpan() {
        throw new Error('no spans today')
      },
    }
    const app = Fastify({ logger: { level: 'error', stream: { write: (line: string) => lines.add(line) } } })
    onTestFinished(() => app.close())
    await app.register(trpcPlugin, {
      prefix: '/trpc',
      trpcOptions: { router },
      fastPath,
      observers: [openTelemetryObserver({ tracer: failing as never })],
    })
    for (const _ of [1, 2])
      expect((await app.inject('/trpc/active')).json()).toEqual({ result: { data: [null, null] } })
    expect(lines.entries.filter((line) => line.includes('observers[0].callStarted'))).toHaveLength(1)
  })
})

it('begins a trace for each call on a WebSocket, linked to the request that opened it', async () => {
  const app = await serve()
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  const socket = new WebSocket(`ws://127.0.0.1:${port}/trpc`, { headers: PARENT })
  onTestFinished(() => socket.terminate())
  const messages = new Journal<string>()
  socket.on('message', (message: Buffer) => messages.add(message.toString()))
  await once(socket, 'open')
  for (const id of [1, 2]) socket.send(JSON.stringify({ id, method: 'query', params: { path: 'active' } }))
  await messages.untilSome(() => true, 2)
  const spans = await finished(2)
  expect(messages.entries.flatMap(idsIn)).toEqual(spans.flatMap((span) => [quotedId(span), quotedId(span)]))
  expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(2)
  expect(spans.map(({ links }) => links[0]?.context.spanId)).toEqual(['b7ad6b7169203331', 'b7ad6b7169203331'])
})

it('does nothing without an SDK', async () => {
  trace.disable()
  const app = await serve()
  expect((await app.inject('/trpc/active')).statusCode).toBe(200)
  expect(exporter.getFinishedSpans()).toEqual([])
})

it.each([
  [{ tracer: {} }, 'Invalid option "tracer": expected a tracer of OpenTelemetry, got an object.'],
  [{ tracers: 1 }, 'Invalid option "tracers": unknown. Did you mean "tracer"?'],
])('rejects invalid options with a code: %o', (options, message) => {
  expect(() => openTelemetryObserver(options as never)).toThrow(
    expect.objectContaining({
      code: 'TRPC_FASTIFY_INVALID_OPTION',
      message: expect.stringContaining(message) as string,
    }),
  )
})

it('only its own export imports the optional peer', () => {
  const src = new URL('../../src/', import.meta.url)
  const importing = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .filter((file) => {
      const source = readFileSync(new URL(file, src), 'utf8').replaceAll(/import type [^;']*? from '[^']+'/g, '')
      return /from '@opentelemetry\/api'|from '[^']*\/opentelemetry\.ts'/.test(source)
    })
  expect(importing).toEqual(['observability/opentelemetry.ts'])
})
