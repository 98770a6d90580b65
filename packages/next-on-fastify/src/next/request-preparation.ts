// Prepares a request as Next's render server does before it looks for a route, mostly by its own methods. They are
// undocumented.

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { ParsedUrlQuery } from 'node:querystring'
import { RSC_REQUEST_HEADERS } from './request-headers.ts'
import { functionOf, type RequestMeta } from './internals.ts'

/** Whether the response is the same without the render server, which serves the client of the App Router. */
export function canSkipRenderServer({ headers }: Pick<IncomingMessage, 'headers'>, query: ParsedUrlQuery): boolean {
  return !('_rsc' in query) && !RSC_REQUEST_HEADERS.some((name) => name in headers)
}

/** Next's wrapper of Node's response. */
export type WrappedResponse = object

/** Next's wrapper of Node's request. */
export interface WrappedRequest {
  headers: IncomingHttpHeaders
}

interface IncrementalCache {
  resetRequestCache(): void
}

/** The used methods of the render server. */
interface Methods {
  readonly hostname: string | undefined
  readonly port: number | undefined
  readonly wrapRequest: (request: IncomingMessage) => WrappedRequest
  readonly wrapResponse: (response: ServerResponse) => WrappedResponse
  /** Attaches URL, protocol and body to a request. */
  readonly attachRequestMeta: (request: WrappedRequest, url: { readonly query: object }) => void
  readonly getIncrementalCache: (made: { readonly requestHeaders: object }) => Promise<IncrementalCache>
}

/** Prepares requests for their route. */
export class RequestPreparation {
  readonly #methods: Methods
  readonly #getMeta: (request: IncomingMessage) => RequestMeta
  readonly wrapResponse: Methods['wrapResponse']

  /** @throws UnsupportedNextError for a Next version that does this in another way */
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

  /** Attaches the server's metadata to a request that has Next's router metadata. The route sees the given headers. */
  async prepare(
    request: IncomingMessage,
    headers: IncomingHttpHeaders,
    query: ParsedUrlQuery,
  ): Promise<WrappedRequest> {
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

  /** Repeats the render server, which has no method for this. */
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
