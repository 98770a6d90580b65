import { connect } from 'node:net'
import { gunzipSync, brotliDecompressSync, inflateSync } from 'node:zlib'

/** A request that is written as it stands here: no client tidies it up. */
export interface RawRequest {
  readonly method?: string
  /** What follows the method: as a rule a path, byte for byte. */
  readonly target: string
  /** Without `host`, `connection` and `content-length`, unless they are the point. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body?: string
  readonly version?: '1.0' | '1.1'
}

/** An answer as it came in: names in their own case and order, the body put together and decoded. */
export interface RawAnswer {
  readonly status: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
}

export const get = (target: string, ...headers: [string, string][]): RawRequest => ({ target, headers })
export const post = (target: string): RawRequest => ({ method: 'POST', target, body: '' })

/** What Next says of its cache. */
export const cacheState = ({ headers }: RawAnswer): string | undefined =>
  headers.find(([name]) => name.toLowerCase() === 'x-nextjs-cache')?.[1]

/** What a client that gives up waits for, in milliseconds: machines that do much else are slow. */
const PATIENCE = 60_000

const CRLF = '\r\n'

/** The bytes of a request. The connection ends with its answer, unless the request says otherwise. */
function written({ method = 'GET', target, headers = [], body, version = '1.1' }: RawRequest): Buffer {
  const has = (wanted: string): boolean => headers.some(([name]) => name.toLowerCase() === wanted)
  const lines = [`${method} ${target} HTTP/${version}`]
  if (!has('host')) lines.push('host: app.example')
  for (const [name, value] of headers) lines.push(`${name}: ${value}`)
  if (body !== undefined && !has('content-length') && !has('transfer-encoding')) {
    lines.push(`content-length: ${Buffer.byteLength(body)}`)
  }
  if (!has('connection')) lines.push('connection: close')
  return Buffer.concat([Buffer.from(lines.join(CRLF) + CRLF + CRLF, 'latin1'), Buffer.from(body ?? '')])
}

/** Sends requests over one connection, the next one when the last has its answer, and ends it with the last. */
export async function askInTurn(origin: string, requests: readonly RawRequest[]): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  socket.setNoDelay(true)
  socket.setTimeout(PATIENCE, () => socket.destroy(new Error(`No answer within ${PATIENCE} ms`)))
  let received = Buffer.alloc(0)
  const answers: RawAnswer[] = []
  try {
    return await new Promise<RawAnswer[]>((resolve, reject) => {
      const send = (): unknown => socket.write(written(requests[answers.length]!))
      const read = (ended: boolean): void => {
        const request = requests[answers.length]
        if (!request) return
        const answer = parsed(received, request.method === 'HEAD', ended)
        if (!answer) return
        received = received.subarray(answer.length)
        answers.push(answer)
        if (answers.length === requests.length) resolve(answers)
        else if (!ended) send()
      }
      socket.on('connect', send)
      socket.on('data', (chunk) => {
        received = Buffer.concat([received, chunk])
        read(false)
      })
      socket.on('error', reject)
      socket.on('close', () => {
        read(true)
        if (answers.length < requests.length) {
          reject(new Error(`${answers.length} of ${requests.length} answers before the end: ${String(received)}`))
        }
      })
    })
  } finally {
    socket.destroy()
  }
}

export async function ask(origin: string, request: RawRequest): Promise<RawAnswer> {
  const [answer] = await askInTurn(origin, [request])
  return answer!
}

/** The first answer in what was received, if all of it is there. */
function parsed(received: Buffer, toHead: boolean, ended: boolean): (RawAnswer & { length: number }) | undefined {
  const headEnd = received.indexOf(CRLF + CRLF)
  if (headEnd < 0) return undefined
  const [status = '', ...lines] = received.toString('latin1', 0, headEnd).split(CRLF)
  const start = headEnd + 4
  if (/^HTTP\/1.1 1\d\d/.test(status)) {
    const next = parsed(received.subarray(start), toHead, ended)
    return next && { ...next, status: `${status}, ${next.status}`, length: next.length + start }
  }
  const headers = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const
  })
  const header = (wanted: string): string | undefined => headers.find(([name]) => name.toLowerCase() === wanted)?.[1]
  const whole = (body: Buffer, length: number): RawAnswer & { length: number } => ({
    status,
    headers,
    body: decoded(body, header('content-encoding')),
    length: start + length,
  })

  if (toHead || / (?:204|304)\b/.test(status)) return whole(Buffer.alloc(0), 0)
  if (header('transfer-encoding') === 'chunked') {
    const chunks = dechunked(received.subarray(start))
    return chunks && whole(chunks.body, chunks.length)
  }
  const announced = header('content-length')
  if (announced === undefined) return ended ? whole(received.subarray(start), received.length - start) : undefined
  const length = Number(announced)
  if (received.length < start + length) return undefined
  return whole(received.subarray(start, start + length), length)
}

function dechunked(received: Buffer): { body: Buffer; length: number } | undefined {
  const chunks: Buffer[] = []
  let at = 0
  for (;;) {
    const lineEnd = received.indexOf(CRLF, at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(received.toString('latin1', at, lineEnd), 16)
    const next = lineEnd + 2 + size + 2
    if (received.length < next) return undefined
    if (size === 0) return { body: Buffer.concat(chunks), length: next }
    chunks.push(received.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = next
  }
}

const DECODERS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  deflate: inflateSync,
}

/** What no decoder takes is compared as it came. */
export function decoded(body: Buffer, encoding = ''): Buffer {
  const decode = DECODERS[encoding]
  if (!decode || body.length === 0) return body
  try {
    return decode(body)
  } catch {
    return body
  }
}
