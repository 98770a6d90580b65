// A span for each call, by the OpenTelemetry API: an SDK that is registered gets them, and without one nothing is done.

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
import type { FastifyRequest } from 'fastify'
import { InvalidOptionError } from '../errors.ts'
import { isTraceHeader } from '../http/header-rules.ts'
import type { CallEnd, GatewayObserver, ObservedCall } from '../options/observer.ts'

/** Options of {@link openTelemetryObserver}. */
export interface OpenTelemetryObserverOptions {
  /** What makes the spans. @default the global provider's tracer `aggregator-gateway` */
  tracer?: Tracer
}

/**
 * Makes a client span of each call, all its attempts together, as a child of the span that is active when the request
 * is handled, or of the one that the request's headers name, or else of a span that it makes for the request. The global
 * propagator tells the upstream of it: `traceparent`.
 *
 * @throws GATEWAY_INVALID_OPTION
 *
 * @example
 * await app.register(gatewayPlugin, { upstreams, endpoints, observers: [openTelemetryObserver()] })
 */
export function openTelemetryObserver(options: OpenTelemetryObserverOptions = {}): GatewayObserver<Span> {
  checkOptions(options)
  const { tracer = trace.getTracer('aggregator-gateway') } = options
  // By request: where a call that waits for another is made, the context is the one of a connection that others use.
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
  /** As many as there are calls in the options. */
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
    // Baggage is data that an upstream may respond by: unlike the trace, it is part of what requests share.
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

/** The parent of a request's calls. Where nobody has begun a trace, it is a span that lasts as long as they do. */
class RequestTrace {
  /** What came with the request: its trace, and its baggage. */
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

  /** A call begins: a request that shares the calls of another one makes none, and gets no span. */
  begin(): Context {
    this.#running++
    if (this.#parent) return this.#parent
    if (!trace.getSpan(this.incoming)) this.#root = this.#startRoot()
    this.#parent = this.#root ? trace.setSpan(this.incoming, this.#root) : this.incoming
    return this.#parent
  }

  /** A call has ended; those that waited for it begin at once. */
  end(): void {
    this.#running--
    if (this.#running === 0 && this.#root) queueMicrotask(() => this.#running === 0 && this.#root!.end())
  }
}

/** No URL: it would have values of clients, which the template has not. */
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
  // Nobody's failure.
  if (reason === 'client-left' || reason === 'given-up') return
  span.setAttribute('error.type', reason === 'status' ? String(status) : reason)
  if (cause instanceof Error) span.recordException(cause)
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) })
}

/** The headers of a context that are to be sent. */
function injected(from: Context, isSent: (name: string) => boolean): Record<string, string> {
  const headers: Record<string, string> = {}
  propagation.inject(from, headers)
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isSent(name)))
}

function checkOptions(options: OpenTelemetryObserverOptions): void {
  const unknown = Object.keys(options).find((name) => name !== 'tracer')
  if (unknown !== undefined) {
    throw new InvalidOptionError(`Expected \`openTelemetryObserver\` to have some of tracer, got \`${unknown}\``)
  }
  const { tracer } = options
  if (tracer !== undefined && typeof tracer.startSpan !== 'function') {
    throw new InvalidOptionError('Expected `tracer` to be a tracer of OpenTelemetry, got something else')
  }
}
