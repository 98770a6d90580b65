// A span for each call of a procedure, by the OpenTelemetry API. Without a registered SDK it does nothing.

import {
  type Attributes,
  context,
  type Context,
  createContextKey,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { getHTTPStatusCodeFromError } from '@trpc/server/http'
import { checkOptions } from 'checked-options'
import type { FastifyRequest } from 'fastify'
import { InvalidOptionError } from '../errors.ts'
import type { CallRecord, ObservedCall, TrpcObserver } from '../options/types.ts'
import { type OpenTelemetryObserverOptions, openTelemetrySchema } from './opentelemetry-options.ts'

export type { OpenTelemetryObserverOptions }

/** A call and the context in which its code runs. */
export interface TracedCall {
  readonly span: Span
  readonly context: Context
}

/** Where `@opentelemetry/instrumentation-http` keeps the span of a request. `@opentelemetry/core` has the same key. */
const HTTP_METADATA = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA')

/**
 * Creates a server span for each call of a procedure, also in batches, streams, subscriptions and WebSockets. It is active in
 * middlewares and resolvers. Its parent is the active span or that of the request's headers.
 *
 * @throws TRPC_FASTIFY_INVALID_OPTION
 *
 * @example
 * await app.register(trpcPlugin, { prefix: '/trpc', trpcOptions, observers: [openTelemetryObserver()] })
 */
export function openTelemetryObserver(options: OpenTelemetryObserverOptions = {}): TrpcObserver<TracedCall> {
  const { tracer = trace.getTracer('trpc-fastify') } = checkOptions(openTelemetrySchema, options, (message) => {
    return new InvalidOptionError(message)
  })
  return {
    requestStarted: setRoute,
    callStarted(call) {
      const parent = parentOf(call)
      const links = call.isWebSocket ? linksTo(call.req) : []
      const span = tracer.startSpan(call.path, { kind: SpanKind.SERVER, attributes: attributesOf(call), links }, parent)
      return { span, context: trace.setSpan(parent, span) }
    },
    runCall: (traced, code) => context.with(traced.context, code),
    callEnded({ error }, { span }) {
      if (error) setError(span, error)
      span.end()
    },
  }
}

/** Sets `http.route` on the span of `@opentelemetry/instrumentation-http`, which names the span after it. */
function setRoute({ routeOptions }: FastifyRequest): void {
  const metadata = context.active().getValue(HTTP_METADATA) as { route?: string; span?: Span } | undefined
  if (!metadata || routeOptions.url === undefined) return
  metadata.route = routeOptions.url
  metadata.span?.setAttribute('http.route', routeOptions.url)
}

function parentOf({ req, isWebSocket }: ObservedCall): Context {
  // A connection lasts for many calls: each begins a trace of its own.
  if (isWebSocket) return ROOT_CONTEXT
  const active = context.active()
  return trace.getSpan(active) ? active : propagation.extract(active, req.headers)
}

/** Links a call on a WebSocket to the trace of the request that opened it. */
function linksTo({ headers }: FastifyRequest): { context: ReturnType<Span['spanContext']> }[] {
  const opened = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, headers))
  return opened ? [{ context: opened }] : []
}

/** Paths are those of the router, so no attribute has a value of a client. */
function attributesOf({ path, type, isBatch, batchIndex }: ObservedCall): Attributes {
  return {
    'rpc.system.name': 'trpc',
    'rpc.method': path,
    'trpc.procedure.type': type,
    ...(isBatch ? { 'trpc.batch.index': batchIndex } : {}),
  }
}

/** An error of the client is no error of the server, as in the conventions for HTTP. */
function setError(span: Span, error: NonNullable<CallRecord['error']>): void {
  span.setAttribute('rpc.status_code', error.code)
  if (getHTTPStatusCodeFromError(error) < 500) return
  span.setAttribute('error.type', error.code)
  span.recordException(error.cause ?? error)
  span.setStatus({ code: SpanStatusCode.ERROR, message: error.message })
}
