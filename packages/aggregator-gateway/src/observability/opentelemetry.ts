// A span for each call, by the OpenTelemetry API. Without a registered SDK it does nothing.

import {
  type Attributes,
  context,
  type Context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { checkOptions } from 'checked-options'
import type { FastifyRequest } from 'fastify'
import { InvalidOptionError } from '../errors.ts'
import { isTraceHeader } from '../http/header-rules.ts'
import type { CallEnd, GatewayObserver, ObservedCall } from '../options/observer.ts'
import { type OpenTelemetryObserverOptions, openTelemetrySchema } from './opentelemetry-options.ts'

export type { OpenTelemetryObserverOptions }

/**
 * Creates a client span for each call, all attempts included. Its parent is the active span, the span in the request's
 * headers, or a new span for the request. The global propagator sends it to the upstream as `traceparent`.
 *
 * @throws AGGREGATOR_GATEWAY_INVALID_OPTION
 *
 * @example
 * await app.register(gatewayPlugin, { upstreams, endpoints, observers: [openTelemetryObserver()] })
 */
export function openTelemetryObserver(options: OpenTelemetryObserverOptions = {}): GatewayObserver<Span> {
  const { tracer = trace.getTracer('aggregator-gateway') } = checkOptions(openTelemetrySchema, options, (message) => {
    return new InvalidOptionError(message)
  })
  // By request: a dependent call starts in the async context of a connection that other requests use.
  const traces = new WeakMap<FastifyRequest, RequestTrace>()
  const ofSpans = new WeakMap<Span, RequestTrace>()
  const traceOf = (request: FastifyRequest, { endpoint }: ObservedCall): RequestTrace => {
    let known = traces.get(request)
    if (!known) {
      known = new RequestTrace(request, endpoint, tracer)
      traces.set(request, known)
    }
    return known
  }
  /** One entry per call of the options. */
  const known = new Map<ObservedCall, Attributes>()
  const attributesOf = (call: ObservedCall): Attributes => {
    let attributes = known.get(call)
    if (!attributes) {
      attributes = fixedAttributes(call)
      known.set(call, attributes)
    }
    return attributes
  }
  return {
    // An upstream may respond depending on baggage, so baggage is part of the cache and coalescing keys.
    callHeaders: (call, request) => injected(traceOf(request, call).incoming, (name) => !isTraceHeader(name)),
    callStarted(call, request, traceHeaders) {
      const ofRequest = traceOf(request, call)
      const parent = ofRequest.begin()
      const { method, path } = call
      const span = tracer.startSpan(
        `${method} ${path}`,
        { kind: SpanKind.CLIENT, attributes: attributesOf(call) },
        parent,
      )
      Object.assign(traceHeaders, injected(trace.setSpan(parent, span), isTraceHeader))
      ofSpans.set(span, ofRequest)
      return span
    },
    callEnded(_call, end, span) {
      if (span.isRecording()) tell(span, end)
      span.end()
      ofSpans.get(span)?.end()
    },
  }
}

/** The parent of a request's calls. Without a trace, it is a new span around all calls. */
class RequestTrace {
  /** The trace and the baggage of the client's request. */
  readonly incoming: Context
  readonly #startRoot: () => Span
  #parent: Context | undefined
  #root: Span | undefined
  #running = 0

  constructor(request: FastifyRequest, { method, path }: ObservedCall['endpoint'], tracer: Tracer) {
    const active = context.active()
    this.incoming = trace.getSpan(active) ? active : propagation.extract(active, request.headers)
    const attributes = { 'http.request.method': method, 'http.route': path }
    this.#startRoot = () => tracer.startSpan(`${method} ${path}`, { attributes }, this.incoming)
  }

  /** A call begins. A request that shares the calls of another one gets no span. */
  begin(): Context {
    this.#running++
    if (this.#parent) return this.#parent
    if (!trace.getSpan(this.incoming)) this.#root = this.#startRoot()
    this.#parent = this.#root ? trace.setSpan(this.incoming, this.#root) : this.incoming
    return this.#parent
  }

  /** A call has ended. Dependent calls start immediately after it. */
  end(): void {
    this.#running--
    if (this.#running === 0 && this.#root) queueMicrotask(() => this.#running === 0 && this.#root!.end())
  }
}

/** The template, not the URL: the URL has values of clients. */
function fixedAttributes({ endpoint, name, upstream, method, path }: ObservedCall): Attributes {
  return {
    'http.request.method': method,
    'url.template': path,
    'gateway.route': `${endpoint.method} ${endpoint.path}`,
    'gateway.call': name,
    'gateway.upstream': upstream,
  }
}

function tell(span: Span, { origin, status, reason, message, cause, attempts }: CallEnd): void {
  if (origin !== undefined) {
    const { protocol, hostname, port } = new URL(origin)
    span.setAttribute('url.scheme', protocol.slice(0, -1))
    span.setAttribute('server.address', hostname)
    span.setAttribute('server.port', Number(port) || (protocol === 'https:' ? 443 : 80))
  }
  if (status !== undefined) span.setAttribute('http.response.status_code', status)
  if (attempts > 1) span.setAttribute('http.request.resend_count', attempts - 1)
  if (reason === undefined) return
  span.setAttribute('gateway.reason', reason)
  // Aborted by the client or by the gateway: not an error.
  if (reason === 'client-left' || reason === 'aborted') return
  span.setAttribute('error.type', reason === 'status' ? String(status) : reason)
  if (cause instanceof Error) span.recordException(cause)
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) })
}

/** The headers of a context that the filter accepts. */
function injected(from: Context, isSent: (name: string) => boolean): Record<string, string> {
  const headers: Record<string, string> = {}
  propagation.inject(from, headers)
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isSent(name)))
}
