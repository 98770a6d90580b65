// What Next's render server does to each request before it looks for what is to answer it, done by its own methods as far as
// it has them, for those that are called without it. Nothing of that is documented.

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { ParsedUrlQuery } from 'node:querystring'
import { ROUTER_HEADERS } from './request-headers.ts'
import { functionOf, type RequestMeta } from './internals.ts'

const OPENTELEMETRY = Symbol.for('opentelemetry.js.api.1')

/** Whether a request gets the same without the render server, which answers the router of the App Router, and makes spans. */
export function mayEnter({ headers }: Pick<IncomingMessage, 'headers'>, query: ParsedUrlQuery): boolean {
  // A provider of tracers is in this place for each copy of `@opentelemetry/api` 1.x in a process.
  const { [OPENTELEMETRY]: registered } = globalThis as { [OPENTELEMETRY]?: { readonly trace?: unknown } }
  return registered?.trace === undefined && !('_rsc' in query) && !ROUTER_HEADERS.some((name) => name in headers)
}

/** Next's own response around one of Node. */
export type WrappedResponse = object

/** Next's own request around one of Node. */
export interface WrappedRequest {
  headers: IncomingHttpHeaders
}

interface IncrementalCache {
  resetRequestCache(): void
}

/** What is used of the render server. */
interface Methods {
  readonly hostname: string | undefined
  readonly port: number | undefined
  readonly wrapRequest: (request: IncomingMessage) => WrappedRequest
  readonly wrapResponse: (response: ServerResponse) => WrappedResponse
  /** Leaves the URL, the protocol and the body on a request. */
  readonly attachRequestMeta: (request: WrappedRequest, url: { readonly query: object }) => void
  readonly getIncrementalCache: (made: { readonly requestHeaders: object }) => Promise<IncrementalCache>
}

/** Makes requests ready for what is to answer them. */
export class BeforeRoute {
  readonly #methods: Methods
  readonly #getMeta: (request: IncomingMessage) => RequestMeta
  readonly wrapResponse: Methods['wrapResponse']

  /** @throws NotDirect where the server is of a version that does this in another way */
  constructor(server: Readonly<Record<string, unknown>>, getMeta: (request: IncomingMessage) => RequestMeta) {
    const method = (name: string): unknown => functionOf(server, name).bind(server)
    this.#methods = {
      hostname: server['hostname'],
      port: server['port'],
      wrapRequest: method('normalizeReq'),
      wrapResponse: method('normalizeRes'),
      attachRequestMeta: method('attachRequestMeta'),
      getIncrementalCache: method('getIncrementalCache'),
    } as Methods
    this.#getMeta = getMeta
    this.wrapResponse = this.#methods.wrapResponse
  }

  /** Leaves on a request, on which something of Next is already, what the server leaves; it is seen with these headers. */
  async ready(request: IncomingMessage, headers: IncomingHttpHeaders, query: ParsedUrlQuery): Promise<WrappedRequest> {
    const { wrapRequest, attachRequestMeta, getIncrementalCache } = this.#methods
    this.#addForwarded(headers, request)
    const wrapped = wrapRequest(request)
    wrapped.headers = headers
    attachRequestMeta(wrapped, { query })
    const incrementalCache = await getIncrementalCache({ requestHeaders: { ...headers } })
    incrementalCache.resetRequestCache()
    Object.assign(this.#getMeta(request), { incrementalCache })
    Object.assign(globalThis, { __incrementalCache: incrementalCache })
    return wrapped
  }

  /** As the render server does it, which has no method for that. */
  #addForwarded(headers: IncomingHttpHeaders, { socket }: IncomingMessage): void {
    const { hostname, port } = this.#methods
    const forwarded = headers['x-forwarded-proto']
    const isHttps = forwarded ? forwarded === 'https' : 'encrypted' in socket && Boolean(socket.encrypted)
    headers['x-forwarded-host'] ??= headers.host ?? hostname
    headers['x-forwarded-port'] ??= port ? port.toString() : isHttps ? '443' : '80'
    headers['x-forwarded-proto'] ??= isHttps ? 'https' : 'http'
    headers['x-forwarded-for'] ??= socket.remoteAddress
  }
}
