// Receives traces by OTLP and shows the latest as text, in place of Jaeger or Tempo.

import { closeOnSignal } from '@examples/close-on-signal'
import Fastify from 'fastify'

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
}

interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[]
}

/** Number of traces to remember. */
const TRACES = 200
const traces = new Map<string, Span[]>()

const app = Fastify({ bodyLimit: 16 * 1024 * 1024 })

app.post<{ Body: Export }>('/v1/traces', (request) => {
  const scopes = request.body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans)
  for (const span of scopes.flatMap(({ spans }) => spans)) {
    const spans = traces.get(span.traceId) ?? []
    traces.set(span.traceId, [...spans, span])
  }
  for (const id of [...traces.keys()].slice(0, -TRACES)) traces.delete(id)
  return {}
})

/** `/?find=dashboard` shows only traces that have a span with this in its name. */
app.get<{ Querystring: { find?: string } }>('/', (request, reply) => {
  const { find = '' } = request.query
  const found = [...traces.values()].filter((spans) => spans.some(({ name }) => name.includes(find)))
  const text = found.toReversed().map((spans) => tree(spans).join('\n'))
  return reply.type('text/plain; charset=utf-8').send(text.join('\n\n') || 'No traces yet.')
})

function tree(spans: readonly Span[]): string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId))
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined || !ids.has(parentSpanId))
  return roots.flatMap((root) => branch(root, spans, ''))
}

function branch(span: Span, spans: readonly Span[], indent: string): string[] {
  const microseconds = Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1000
  const children = spans
    .filter(({ parentSpanId }) => parentSpanId === span.spanId)
    .toSorted((one, other) => Number(BigInt(one.startTimeUnixNano) - BigInt(other.startTimeUnixNano)))
  const line = `${indent}${span.name}  ${(microseconds / 1000).toFixed(1)} ms`
  return [line, ...children.flatMap((child) => branch(child, spans, `${indent}  `))]
}

closeOnSignal(app.server, () => app.close())

await app.listen({ host: process.env['HOST'] ?? '127.0.0.1', port: Number(process.env['PORT'] ?? 0) })
console.log('Listening on', app.server.address())
