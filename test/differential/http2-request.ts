// What a request in HTTP/1.1 is in HTTP/2, and what came back, as it would be in HTTP/1.1.

import { once } from 'node:events'
import { connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2'
import { decoded, type RawAnswer, type RawRequest } from './raw-request.ts'

/** Headers that HTTP/2 has not, or another way for; the date is of the moment. */
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'expect', 'date'])

/** Whether the same can be said in HTTP/2: no two hosts, no target that is no path, no version that is none. */
export function isSayable({ method = 'GET', target, headers = [], version = '1.1' }: RawRequest): boolean {
  const names = headers.map(([name]) => name.toLowerCase())
  if (version !== '1.1' || !target.startsWith('/') || !/^[!-~]*$/.test(target)) return false
  // A method that Node's parser refuses is none to it here.
  if (!/^[A-Z]+$/.test(method) || method === 'NONSENSE') return false
  // Clients end a body that has another length, and servers have limits of their own for heads.
  if (names.includes('content-length')) return false
  return (
    !names.some((name) => OF_CONNECTION.has(name) || name === 'host') &&
    headers.every(([, value]) => value.length < 4000) &&
    target.length < 4000
  )
}

/** Asks in HTTP/2 without TLS. */
export async function askInHttp2(
  origin: string,
  { method = 'GET', target, headers = [], body }: RawRequest,
): Promise<RawAnswer> {
  const session = connect(origin)
  try {
    const head: OutgoingHttpHeaders = { ':method': method, ':path': target, ':authority': 'app.example' }
    if (body !== undefined) head['content-length'] = Buffer.byteLength(body)
    for (const [name, value] of headers) {
      const there = head[name.toLowerCase()]
      head[name.toLowerCase()] = there === undefined ? value : [there, value].flat().map(String)
    }
    const stream = session.request(head, { endStream: body === undefined })
    if (body !== undefined) stream.end(body)
    const [found, , raw] = (await once(stream, 'response')) as [IncomingHttpHeaders, number, string[]]
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk as Buffer)
    return {
      status: `HTTP/1.1 ${String(found[':status'])}`,
      headers: raw.flatMap((name, index) =>
        index % 2 === 0 && !name.startsWith(':') ? [[name, raw[index + 1]!] as const] : [],
      ),
      body: decoded(Buffer.concat(chunks), found['content-encoding']),
    }
  } finally {
    session.destroy()
  }
}

/** An answer without what HTTP/2 has not, which are some headers and the text of the status; its names in lower case. */
export function withoutConnection({ status, headers, body }: RawAnswer): RawAnswer {
  const own = headers.map(([name, value]) => [name.toLowerCase(), value] as const)
  const [version, code] = status.split(' ')
  return { status: `${version} ${code}`, headers: own.filter(([name]) => !OF_CONNECTION.has(name)), body }
}
