// One built app in HTTP/2, with and without TLS, and in HTTP/1.1: what is answered is the same.

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { type IncomingMessage, request as request1 } from 'node:http'
import { connect, constants, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'
import { request as requestTls } from 'node:https'
import type { AddressInfo } from 'node:net'
import { requireProgram } from '@test/required-program'
import type { FastifyReply } from 'fastify'
import { createNextOnFastify, type ServedRequest } from 'next-on-fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUILD_TIMEOUT, builtFixture } from '../helpers/built-fixture.ts'

const told = globalThis as { greeted?: string }

interface Question {
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

interface Answer {
  readonly status: number
  /** In their order, but for those of connections and the date. */
  readonly head: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

const OF_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date'])
const HOST = 'app.example'

/** What came, without what HTTP/2 has other ways for. */
function answered(status: number, raw: readonly string[], chunks: readonly Buffer[]): Answer {
  const head = raw.flatMap((name, index) =>
    index % 2 === 0 && !name.startsWith(':') && !OF_CONNECTION.has(name.toLowerCase())
      ? [[name.toLowerCase(), raw[index + 1]!] as const]
      : [],
  )
  // What is rendered for one request has an id of its own.
  const body = Buffer.concat(chunks)
    .toString('latin1')
    .replaceAll(/"[\w-]{21}([a-z]\\?")/g, '"(id)$1')
  return { status, head, body }
}

async function bodyOf(readable: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const chunks: Buffer[] = []
  for await (const chunk of readable) chunks.push(chunk)
  return chunks
}

/** Asks in HTTP/1.1. */
async function ask1(
  request: typeof request1,
  port: number,
  { path, method = 'GET', headers = {}, body }: Question,
): Promise<Answer> {
  const options = { port, path, method, headers: { host: HOST, ...headers }, agent: false, rejectUnauthorized: false }
  const sent = request(options).end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return answered(response.statusCode!, response.rawHeaders, await bodyOf(response))
}

/** Clients of HTTP/1.1 say it by themselves. */
const lengthOf = (body: Question['body']): { 'content-length'?: string } =>
  body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }

/** Asks in HTTP/2. */
async function ask2(
  session: ClientHttp2Session,
  { path, method = 'GET', headers = {}, body }: Question,
): Promise<Answer> {
  const stream = session.request(
    { ':path': path, ':method': method, ':authority': HOST, ...lengthOf(body), ...headers },
    { endStream: body === undefined },
  )
  if (body !== undefined) stream.end(body)
  const [head, , raw] = (await once(stream, 'response')) as [IncomingHttpHeaders, number, string[]]
  return answered(head[':status'] as unknown as number, raw, await bodyOf(stream))
}

const canCertify = requireProgram('openssl', 'openssl')
const command = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost'

/** A key and a certificate that nobody trusts. */
function certificate(): { key: string; cert: string } {
  const both = execFileSync('openssl', [...command.split(' '), '-keyout', '-', '-out', '-'], { stdio: 'pipe' })
  const [key, cert] = String(both).match(/-----BEGIN[^]+?-----END[^\n]+\n/g) as [string, string]
  return { key, cert }
}

const warnings: Error[] = []
const gathered = (warning: Error): void => void warnings.push(warning)

const answers: ServedRequest[] = []
const observers = [{ requestServed: (_: unknown, answer: ServedRequest) => void answers.push(answer) }]

const prepare = async (dir: string) => ({
  plain: await createNextOnFastify({ dir }),
  clear: await createNextOnFastify({ dir, fastify: { http2: true } }),
  tls: await createNextOnFastify({
    dir,
    responseCache: { proxied: 'unmatched' },
    observers,
    fastify: { http2: true, https: { ...certificate(), allowHTTP1: true } },
  }),
})

let apps: Awaited<ReturnType<typeof prepare>>
let clear: ClientHttp2Session
let tls: ClientHttp2Session
const portOf = ({ server }: { server: { address(): AddressInfo | string | null } }): number =>
  (server.address() as AddressInfo).port

beforeAll(async () => {
  process.env['NODE_ENV'] = 'production'
  process.on('warning', gathered)
  apps = await prepare(await builtFixture('newest'))
  const hook = async (request: { headers: IncomingHttpHeaders }, reply: FastifyReply): Promise<void> => {
    if (request.headers['x-want-hook']) reply.header('x-hook', 'yes').header('vary', 'origin')
    if (request.headers['x-want-connection']) reply.header('connection', 'close').header('keep-alive', 'timeout=5')
  }
  apps.clear.addHook('onRequest', hook as () => Promise<void>)
  apps.tls.addHook('onRequest', hook as () => Promise<void>)
  await Promise.all(Object.values(apps).map((app) => app.listen({ host: 'localhost', port: 0 })))
  clear = connect(`http://localhost:${portOf(apps.clear)}`)
  tls = connect(`https://localhost:${portOf(apps.tls)}`, { rejectUnauthorized: false })
}, BUILD_TIMEOUT)
afterAll(async () => {
  for (const session of [clear, tls]) session?.destroy()
  await Promise.all(Object.values(apps).map((app) => app.close()))
  process.off('warning', gathered)
})

const inPlain = (question: Question): Promise<Answer> => ask1(request1, portOf(apps.plain), question)

const ways: readonly (readonly [string, (question: Question) => Promise<Answer>])[] = [
  ['in HTTP/2', (question) => ask2(clear, question)],
  ['in HTTP/2 over TLS', (question) => ask2(tls, question)],
  ['in HTTP/1.1 over TLS', (question) => ask1(requestTls, portOf(apps.tls), question)],
]

describe.runIf(canCertify).each(ways)('%s', (_, ask) => {
  it.each<[string, Question]>([
    ['a page', { path: '/' }],
    ['a page that is compressed', { path: '/', headers: { 'accept-encoding': 'gzip' } }],
    ['the head of a page', { path: '/', method: 'HEAD' }],
    ['a page that is made for each request', { path: '/form' }],
    ['a page that the client has', { path: '/', headers: { 'if-none-match': '*' } }],
    ['a page that is not there', { path: '/none' }],
    ['a redirect', { path: '/static/' }],
    ['a route that fails', { path: '/fails' }],
    ['a file', { path: '/hello.txt' }],
    ['a part of a file', { path: '/hello.txt', headers: { range: 'bytes=0-1' } }],
    ['a method that no page has', { path: '/', method: 'PROPFIND' }],
    ['a URL that cannot be decoded', { path: '/%zz' }],
    ['a stream', { path: '/stream?parts=2' }],
    ['a page of which a part is late', { path: '/late' }],
    ['a page of which a late part fails', { path: '/breaks-late' }],
    ['a page of which a part is late, compressed', { path: '/late', headers: { 'accept-encoding': 'gzip' } }],
    ['a body to a route handler', { path: '/echo?a=b', method: 'PUT', body: 'some', headers: { 'x-a': 'b' } }],
    [
      'a body to an API route',
      {
        path: '/api/any',
        method: 'POST',
        body: 'a=1',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
    ],
    ['a body that nobody reads', { path: '/static', method: 'POST', body: 'x'.repeat(1_000_000) }],
  ])('%s is answered as in HTTP/1.1', async (_name, question) => {
    const right = await inPlain(question)
    // Each time: what can come from memory does so then.
    for (let turn = 0; turn < 3; turn++) {
      expect(unlike(await ask(question))).toEqual(unlike(right))
    }
  })

  it('a server action gets the form, up to the size limit of Next', async () => {
    const page = await ask({ path: '/form' })
    const action = /name="(\$ACTION_ID_\w+)"/.exec(page.body)![1]!
    const sent = (name: string): Promise<Answer> => {
      const boundary = 'a-boundary'
      const part = (field: string, value: string): string =>
        `--${boundary}\r\ncontent-disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`
      const body = `${part(action, '')}${part('name', name)}--${boundary}--\r\n`
      const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, origin: `https://${HOST}` }
      return ask({ path: '/form', method: 'POST', headers, body })
    }
    expect((await sent('Ada')).body.replaceAll('<!-- -->', '')).toContain('Greeted: Ada.')
    expect((await sent('x'.repeat(1_500_000))).status).toBe(200)
    expect(told.greeted).toHaveLength(1_500_000)
  })
})

/** What a route handler is told of the connection differs. */
function unlike({ status, head, body }: Answer): { status: number; head: Answer['head']; body: unknown } {
  if (!body.startsWith('{"method":"PUT"')) return { status, head, body }
  const { headers, ...rest } = JSON.parse(body) as { headers: Record<string, string> }
  const own = Object.entries(headers).filter(
    ([name]) => !name.startsWith('x-forwarded-') && name !== 'connection' && name !== 'transfer-encoding',
  )
  const others = head.filter(([name]) => name !== 'content-length')
  return { status, head: others, body: { ...rest, headers: Object.fromEntries(own) } }
}

describe.runIf(canCertify).each<[string, () => ClientHttp2Session]>([
  ['in clear text', () => clear],
  ['over TLS', () => tls],
])('HTTP/2 %s', (_, session) => {
  it.each(['setHeader', 'writeHead', 'array'])('has no header of connections that %s has set', async (by) => {
    const stream = session().request({ ':path': `/api/connection?by=${by}`, ':authority': HOST })
    const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders]
    const names = [
      'connection',
      'keep-alive',
      'proxy-connection',
      'transfer-encoding',
      'upgrade',
      'http2-settings',
      'te',
    ]
    expect(names.filter((name) => name in head)).toEqual([])
    expect(Buffer.concat(await bodyOf(stream)).toString()).toBe('first last')
  })

  it('has a header in one line that HTTP/2 has once', async () => {
    const { status, head, body } = await ask2(session(), { path: '/api/connection?by=twice' })
    expect([status, body]).toEqual([200, 'first last'])
    expect(head).toContainEqual(['content-location', '/a, /b'])
  })

  it('has none that a hook has set', async () => {
    const { status, body } = await ask2(session(), { path: '/static', headers: { 'x-want-connection': 'yes' } })
    expect([status, body.includes('<h1>Static</h1>')]).toEqual([200, true])
  })

  it('has the late part of a page when it is there', async () => {
    const stream = session().request({ ':path': '/late', ':authority': HOST })
    const parts = (await bodyOf(stream)).map(String)
    const late = parts.findIndex((part) => part.includes('<p>late</p>'))
    expect(parts.findIndex((part) => part.includes('<p>soon</p>'))).toBe(0)
    expect(late).toBeGreaterThan(0)
  })

  it('tells of a stream that fails in the middle, and goes on with others of its connection', async () => {
    const stream = session().request({ ':path': '/breaks', ':authority': HOST })
    let text = ''
    stream.setEncoding('utf8').on('data', (part: string) => void (text += part))
    await expect(once(stream, 'end')).rejects.toMatchObject({ code: 'ERR_HTTP2_STREAM_ERROR' })
    expect([text, session().closed]).toEqual(['first\n', false])
    expect((await ask2(session(), { path: '/' })).status).toBe(200)
  })
})

describe.runIf(canCertify)('HTTP/2', () => {
  it('tells Next the host, and that it is HTTPS, and no pseudo-header', async () => {
    const headersOf = async (session: ClientHttp2Session, headers = {}): Promise<Record<string, string>> => {
      const { body } = await ask2(session, { path: '/echo', headers })
      return (JSON.parse(body) as { headers: Record<string, string> }).headers
    }
    const found = await headersOf(tls, { host: 'another.example', cookie: 'a=1; b=2' })
    expect(found).toMatchObject({ host: HOST, 'x-forwarded-proto': 'https', cookie: 'a=1; b=2' })
    expect(await headersOf(clear)).toMatchObject({ host: HOST, 'x-forwarded-proto': 'http' })
    expect(Object.keys(found).join()).not.toContain(':')
  })

  it('serves cached pages and files', async () => {
    const hits = (): number => apps.tls.nextStats()!.responseCache!.hits
    for (const path of ['/', '/hello.txt']) {
      await ask2(tls, { path })
      const before = hits()
      const right = await inPlain({ path })
      expect(await ask2(tls, { path })).toEqual(right)
      expect(hits()).toBe(before + 1)
    }
  })

  it('has the headers of hooks with those of Next', async () => {
    const { head } = await ask2(tls, { path: '/', headers: { 'x-want-hook': 'yes' } })
    expect(head).toContainEqual(['x-hook', 'yes'])
    expect(head.find(([name]) => name === 'vary')?.[1]).toContain('origin')
  })

  it('has each part of a stream when it is there', async () => {
    const stream = tls.request({ ':path': '/stream?parts=20', ':authority': HOST })
    const [first] = (await once(stream, 'data')) as [Buffer]
    expect([String(first), stream.readableEnded]).toEqual(['part 0\n', false])
    stream.close()
  })

  it('responds to a body that is too large, and to other streams of the connection', async () => {
    const action = /name="(\$ACTION_ID_\w+)"/.exec((await ask2(tls, { path: '/form' })).body)![1]!
    const body = `--b\r\ncontent-disposition: form-data; name="${action}"\r\n\r\n${'x'.repeat(3_000_000)}\r\n--b--\r\n`
    const headers = { 'content-type': 'multipart/form-data; boundary=b', origin: `https://${HOST}` }
    for (const session of [tls, clear]) {
      expect((await ask2(session, { path: '/form', method: 'POST', headers, body })).status).toBe(500)
      expect((await ask2(session, { path: '/' })).status).toBe(200)
    }
  })

  it('serves many concurrent requests of a connection', async () => {
    const paths = Array.from({ length: 50 }, (_, index) => ['/', '/form', '/hello.txt', '/echo'][index % 4]!)
    const found = await Promise.all(paths.map((path) => ask2(tls, { path })))
    expect(new Set(found.map(({ status }) => status))).toEqual(new Set([200]))
  })

  it('a client that resets a stream ends only that response', async () => {
    const stream = tls.request({ ':path': '/stream?parts=1000', ':authority': HOST })
    await once(stream, 'data')
    answers.length = 0
    stream.close(constants.NGHTTP2_CANCEL)
    await expect
      .poll(() => answers.find(({ url }) => url === '/stream?parts=1000'), { timeout: 30_000 })
      .toMatchObject({ aborted: true, status: 200 })
    expect((await ask2(tls, { path: '/' })).status).toBe(200)
  })

  it.each(['/request/handler', '/api/request'])('%s has the request of Fastify', async (path) => {
    const { body } = await ask2(tls, { path })
    expect((JSON.parse(body) as { id: unknown }).id).toMatch(/^req-/)
  })

  it('a client that leaves while it sends is no error of the server', async () => {
    const headers = { ':path': '/echo', ':method': 'POST', ':authority': HOST, 'content-length': '1000' }
    const stream = tls.request(headers)
    stream.on('error', () => undefined)
    stream.write('begun')
    await expect.poll(() => apps.tls.server.listening).toBe(true)
    stream.close(constants.NGHTTP2_CANCEL)
    await once(stream, 'close')
    expect((await ask2(tls, { path: '/echo', method: 'POST', body: 'whole' })).body).toContain('"body":"whole"')
  })

  // The last one, as it closes an app.
  it('close() waits for a stream to its end, and ends connections', async () => {
    const stream = clear.request({ ':path': '/stream?parts=5', ':authority': HOST })
    let text = ''
    stream.setEncoding('utf8').on('data', (part: string) => void (text += part))
    await once(stream, 'data')
    const closed = apps.clear.close()
    await once(stream, 'close')
    expect(text).toContain('part 4')
    await closed
    await expect.poll(() => clear.destroyed, { timeout: 30_000 }).toBe(true)
    // Nothing was said to a response that HTTP/2 has no place for.
    expect(warnings).toEqual([])
  })
})
