// Creates the spans of Next's server for requests that its router and its render server never see. Next's own method does
// it: on a server whose next step is replaced. So names, attributes and propagation are those of the app's Next.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { functionOf, type RequestMeta, UnsupportedNextError } from './internals.ts'

const OPENTELEMETRY = Symbol.for('opentelemetry.js.api.1')

/** Whether OpenTelemetry has a tracer provider. All copies of `@opentelemetry/api` 1.x of a process register it here. */
export function isTraced(): boolean {
  const { [OPENTELEMETRY]: registered } = globalThis as { [OPENTELEMETRY]?: { readonly trace?: unknown } }
  return registered?.trace !== undefined
}

type Server = Readonly<Record<string, unknown>>

/** Serves a request in the span that Next's server has for each request, if there is a tracer provider. */
export type InServerSpan = (
  request: IncomingMessage,
  response: ServerResponse,
  serve: () => Promise<void>,
) => Promise<void>

/** @throws UnsupportedNextError for a Next version that creates the span in another way */
export function inServerSpanOf(server: Server): InServerSpan {
  const handleRequest = functionOf(server, 'handleRequest')
  functionOf(server, 'handleRequestImpl')
  return async (request, response, serve) => {
    if (!isTraced()) return serve()
    const spanned: object = Object.create(server, { handleRequestImpl: { value: serve } })
    await handleRequest.call(spanned, request, response)
  }
}

/** The spans of cached responses. */
export interface CachedSpans {
  /** The route of a request that Next has served, with its parameters by name. Undefined for files. */
  routeOf(request: IncomingMessage): string | undefined
  /** Serves a cached response of a route in a span. Call it only if {@link isTraced}. */
  inSpan(route: string, response: ServerResponse, serve: () => Promise<void>): Promise<void>
}

/** The used functions of Next's modules. */
interface Functions {
  readonly getRequestMeta: (request: IncomingMessage) => RequestMeta
  readonly setRequestMeta: (request: IncomingMessage, meta: RequestMeta) => unknown
  readonly getTracer: () => { setRootSpanAttribute(name: string, value: string): void }
}

/** Finds the spans of the app in `dir`, whose Next must be prepared, or logs why cached responses have none. */
export async function cachedSpansOf(
  dir: string,
  next: object,
  log: FastifyBaseLogger,
): Promise<CachedSpans | undefined> {
  try {
    const { server } = next as { server?: Server }
    const inner = (await functionOf(server, 'getServer').call(server)) as Server
    const fromApp = createRequire(join(dir, 'package.json'))
    const modules = ['request-meta', 'lib/trace/tracer'].map((name) => fromApp(`next/dist/server/${name}`) as Server)
    const functions = Object.assign({}, ...modules) as Server
    for (const name of ['getRequestMeta', 'setRequestMeta', 'getTracer']) functionOf(functions, name)
    return cachedSpans(inServerSpanOf(inner), functions as unknown as Functions)
  } catch (err) {
    const isReason = err instanceof UnsupportedNextError
    log.warn(
      { err: isReason ? undefined : err, dir },
      'cached responses have no spans: this Next traces in another way',
    )
    return undefined
  }
}

function cachedSpans(
  inServerSpan: InServerSpan,
  { getRequestMeta, setRequestMeta, getTracer }: Functions,
): CachedSpans {
  return {
    routeOf: (request) => {
      const { invokeOutput } = getRequestMeta(request)
      return typeof invokeOutput === 'string' ? invokeOutput : undefined
    },
    inSpan: async (route, response, serve) => {
      const { req: request } = response
      // Middleware may have run for this request, in a span of its own.
      const meta = { ...getRequestMeta(request), middlewareInvoke: false, isRSCRequest: request.headers['rsc'] === '1' }
      setRequestMeta(request, meta)
      await inServerSpan(request, response, () => {
        getTracer().setRootSpanAttribute('next.route', route)
        return serve()
      })
    },
  }
}
