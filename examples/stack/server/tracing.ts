import { FastifyOtelInstrumentation } from '@fastify/otel'
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { FastifyInstance } from 'fastify'

/** A span for each request, and those of Next, tRPC and the gateway below it. Register it before all routes. */
export async function traceRequests(app: FastifyInstance, url: string): Promise<void> {
  const provider = new TracerProvider({
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url }) })],
  })
  trace.setGlobalTracerProvider(provider)
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const requests = new FastifyOtelInstrumentation({
    instrumentHooks: false,
    requestHook: (span, { method, routeOptions }) => span.updateName(`${method} ${routeOptions.url}`),
  })
  requests.setTracerProvider(provider)
  await app.register(requests.plugin())
  app.addHook('onClose', () => provider.shutdown())
}
