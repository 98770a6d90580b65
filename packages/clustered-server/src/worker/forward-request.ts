// Sends a request to the worker of another build, and its response to the client.

import { type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { encodeClient, isClientHeader } from './client-header.ts'

/** Headers of one connection, see RFC 9110, section 7.6.1. `expect` was met by this server already. */
const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'transfer-encoding', 'upgrade', 'expect'],
])
/** Headers by which shared caches are told to store a response. */
const FOR_CACHES =
  /^(?:cache-control|(?:.+-)?cdn-cache-control|surrogate-control|edge-control|expires|x-accel-expires|vary)$/
/** Methods whose requests may be sent twice. */
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Methods whose requests have no body unless they say so. */
const WITHOUT_BODY = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT'])

/** A request to forward. */
export interface Forwarded {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Name of the request header that selects the build, if it is not the URL. */
  readonly header: string | undefined
  /** Serves the request in this process. */
  readonly serveHere: () => void
}

/** Forwards a request to the first socket that accepts it. Serves it here if none does. */
export function forward(forwarded: Forwarded, [path, ...others]: readonly string[]): void {
  const { response, serveHere } = forwarded
  if (response.destroyed) return
  if (path === undefined) return serveHere()
  const socket = connect(path)
  const abort = (): void => void socket.destroy()
  const tryNext = (): void => {
    response.off('close', abort)
    forward(forwarded, others)
  }
  response.once('close', abort)
  socket.once('error', tryNext)
  socket.once('connect', () => {
    socket.off('error', tryNext)
    response.off('close', abort)
    send(forwarded, socket, tryNext)
  })
}

/** @param tryNext sends a safe request again when the connection was lost before the response */
function send({ request, response, header }: Forwarded, socket: Socket, tryNext: () => void): void {
  const { method = 'GET', url: path = '/' } = request
  const hasBody = 'content-length' in request.headers || 'transfer-encoding' in request.headers
  const sent = httpRequest({
    createConnection: () => socket,
    ...{ method, path, headers: requestHeaders(request, hasBody), setDefaultHeaders: false },
  })
  const abort = (): void => void sent.destroy()
  response.once('close', abort)
  sent.once('response', (received) => relay(received, response, header))
  sent.on('error', () => {
    request.unpipe(sent)
    response.off('close', abort)
    if (response.headersSent || response.destroyed) return
    if (!hasBody && SAFE.has(method)) return tryNext()
    // The other worker may have acted on the request already.
    request.resume()
    response.writeHead(502, { 'content-length': 0 }).end()
  })
  if (hasBody) request.pipe(sent)
  else sent.end()
}

function requestHeaders({ rawHeaders, method = '', socket }: IncomingMessage, hasBody: boolean): string[] {
  const headers = [...encodeClient(socket), ...endToEnd(rawHeaders, (name) => !isClientHeader(name))]
  const isChunked = valueOf(rawHeaders, 'transfer-encoding') !== undefined
  if (isChunked) headers.push('transfer-encoding', 'chunked')
  // Otherwise Node would send an empty body in chunks.
  if (!hasBody && !WITHOUT_BODY.has(method)) headers.push('content-length', '0')
  return [...headers, 'connection', 'close']
}

function relay(received: IncomingMessage, response: ServerResponse, header: string | undefined): void {
  const { statusCode = 502, statusMessage = '', rawHeaders } = received
  const headers = header === undefined ? endToEnd(rawHeaders) : uncacheable(rawHeaders, header)
  response.writeHead(statusCode, statusMessage, headers)
  response.flushHeaders()
  received.on('end', () => {
    const { rawTrailers } = received
    if (rawTrailers.length > 0) response.addTrailers(pairs(rawTrailers))
  })
  // A response that is cut off there must not look complete here.
  received.on('close', () => !received.complete && response.destroy())
  received.on('error', () => response.destroy())
  received.pipe(response)
}

/**
 * Headers of a response that a request header has selected. A shared cache must not serve it to clients of another build,
 * which request the same URL.
 */
function uncacheable(rawHeaders: readonly string[], header: string): string[] {
  const headers = endToEnd(rawHeaders, (name) => !FOR_CACHES.test(name))
  const vary = valueOf(rawHeaders, 'vary')
  headers.push('cache-control', 'private, no-store', 'vary', vary === undefined ? header : `${vary}, ${header}`)
  return headers
}

/**
 * Headers without those of one connection. Those that `connection` names stay: to its clients, the service is one server.
 * Otherwise a client could remove the headers of its proxy, and the length of its body.
 */
function endToEnd(rawHeaders: readonly string[], isWanted: (name: string) => boolean = () => true): string[] {
  return pairs(rawHeaders)
    .filter(([name]) => {
      const lower = name.toLowerCase()
      return !HOP_BY_HOP.has(lower) && isWanted(lower)
    })
    .flat()
}

/** The values of a header as one. */
function valueOf(rawHeaders: readonly string[], header: string): string | undefined {
  const values = pairs(rawHeaders).flatMap(([name, value]) => (name.toLowerCase() === header ? [value] : []))
  return values.length === 0 ? undefined : values.join(', ')
}

function pairs(rawHeaders: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, index) => [
    rawHeaders[2 * index]!,
    rawHeaders[2 * index + 1]!,
  ])
}
