// Sends requests over HTTP/2, in clear text or over TLS with ALPN, for the projects that repeat these tests so.

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { inject } from 'vitest'
import { BROKEN_OFF, type Exchange } from './exchange.ts'

export type Transport = 'inject' | 'h2c' | 'h2'

/** How the servers of this package are asked; the official one is asked over HTTP/1.1. */
export const TRANSPORT: Transport = inject('transport') ?? 'inject'

/** A part of the certificate that nobody trusts. */
const pem = (name: string): string =>
  readFileSync(new URL(`../../fixtures/certificate/${name}.pem`, import.meta.url), 'utf8')

/** Options of Fastify for a transport. */
export function serverOptions(transport: Transport): object {
  if (transport === 'inject') return {}
  return transport === 'h2c'
    ? { http2: true }
    : { http2: true, https: { allowHTTP1: true, key: pem('key'), cert: pem('certificate') } }
}

/** Characters of a host in a URL; nghttp2 lets no others into the server. */
const AUTHORITY = /^[\w.:[\]%-]*$/

/**
 * Whether a request is the same over HTTP/2: it trims the values of headers and refuses authorities that are none. For
 * uploads `inject` cannot stand in for HTTP/1.1, as tRPC wants an `IncomingMessage`; they have tests of their own.
 */
export function isSameOverHttp2({ headers = {} }: { readonly headers?: Record<string, string | string[]> }): boolean {
  return Object.entries(headers).every(([name, value]) => {
    const text = String(value)
    if (name === 'host') return AUTHORITY.test(text)
    return text === text.trim() && !text.toLowerCase().startsWith('multipart/')
  })
}

const sessions = new WeakMap<FastifyInstance, ClientHttp2Session>()

async function sessionOf(app: FastifyInstance): Promise<ClientHttp2Session> {
  const known = sessions.get(app)
  if (known && !known.closed && !known.destroyed) return known
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' })
  const scheme = 'setSecureContext' in app.server ? 'https' : 'http'
  const { port } = app.server.address() as AddressInfo
  const session = connect(`${scheme}://127.0.0.1:${port}`, { rejectUnauthorized: false })
  sessions.set(app, session)
  await once(session, 'connect')
  session.unref()
  return session
}

/** Ends the connection to an app that is to close. */
export function disconnect(app: FastifyInstance): void {
  sessions.get(app)?.destroy()
}

/** One exchange; a stream that the server resets is {@link BROKEN_OFF}. */
async function http2Exchange(
  app: FastifyInstance,
  headers: OutgoingHttpHeaders,
  body?: string | Buffer,
): Promise<Exchange> {
  const session = await sessionOf(app)
  const stream = session.request({ ':authority': 'localhost', ...headers }, { endStream: body === undefined })
  const chunks: Buffer[] = []
  let answered: Record<string, unknown> = {}
  stream.on('response', (got) => (answered = got)).on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.on('error', () => {}) // Its code is the one that counts.
  if (body !== undefined) stream.end(body)
  await once(stream, 'close').catch(() => {})
  if (stream.rstCode !== 0) return BROKEN_OFF
  const { ':status': status = 0, 'set-cookie': cookies, ...others } = answered as Record<string, string | string[]>
  // Node gives an array of one too.
  const setCookie = cookies === undefined ? {} : { 'set-cookie': cookies.length === 1 ? cookies[0] : cookies }
  return {
    status: Number(status),
    headers: { ...others, ...setCookie },
    body: Buffer.concat(chunks).toString('latin1'),
  }
}

/** The same request that `inject` makes of these options. */
export function http2Request(
  app: FastifyInstance,
  method: string,
  url: string,
  given: Readonly<Record<string, string | string[]>> = {},
  body?: string | Buffer,
): Promise<Exchange> {
  const { pathname, search } = new URL(url, 'http://localhost')
  const names = Object.entries(given).map(([name, value]) => [name.toLowerCase(), value] as const)
  const { host, ...headers } = Object.fromEntries(names)
  return http2Exchange(
    app,
    {
      ':method': method,
      ':path': pathname + search,
      ':authority': host ?? (TRANSPORT === 'h2' ? 'localhost:443' : 'localhost:80'),
      'user-agent': 'lightMyRequest',
      ...(body === undefined || body.length === 0 ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
    },
    body,
  )
}
