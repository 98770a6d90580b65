// Pass-through of requests and responses, with real sockets on both sides.

import { once } from 'node:events'
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type GatewayObserver, gatewayPlugin } from '../../../src/index.ts'
import { dial, listening, passing, sent } from '../../helpers/pass-through.ts'
import { gateway, nobody, tcpUpstream, upstream } from '../../helpers/servers.ts'

const pem = (name: string): string =>
  readFileSync(new URL(`../../fixtures/certificate/${name}.pem`, import.meta.url), 'utf8')
const TLS = { key: pem('key'), cert: pem('certificate') }

describe('a response', () => {
  it('is handed on as it is: status, body, and the headers that are about it', async () => {
    const body = gzipSync('not parsed')
    const origin = await upstream((_, response) => {
      response.writeHead(203, {
        'content-type': 'application/x-thing',
        'content-encoding': 'gzip',
        'content-length': body.length,
        etag: '"1"',
        'cache-control': 'max-age=1',
        vary: 'accept, x-tenant',
        'set-cookie': ['a=1', 'b=2'],
        server: 'nginx/1.2.3',
        'x-internal': 'secret',
      })
      response.end(body)
    })
    const { statusCode, headers, rawPayload } = await (await passing(origin)).inject('/a')
    expect([statusCode, rawPayload]).toEqual([203, body])
    expect(headers).toEqual({
      'content-type': 'application/x-thing',
      'content-encoding': 'gzip',
      'content-length': String(body.length),
      etag: '"1"',
      'cache-control': 'max-age=1',
      vary: 'accept, x-tenant',
      date: expect.any(String) as string,
      connection: 'keep-alive',
    })
  })

  it('has the other headers that are named, and none of a connection', async () => {
    const origin = await upstream((_, response) => {
      response.writeHead(302, {
        connection: 'close, X-Nominated',
        'x-nominated': 'hidden',
        'x-named': '1',
        'set-cookie': ['a=1', 'b=2'],
        location: '/elsewhere',
        'keep-alive': 'timeout=1',
      })
      response.end()
    })
    const app = await passing(origin, {
      responseHeaders: ['set-cookie', 'location', 'x-named', 'x-nominated', 'x-missing'],
    })
    const { statusCode, headers } = await app.inject('/a')
    expect(statusCode).toBe(302)
    expect(headers).toMatchObject({ 'set-cookie': ['a=1', 'b=2'], location: '/elsewhere', 'x-named': '1' })
    expect(headers).not.toHaveProperty('x-nominated')
    expect(headers).not.toHaveProperty('keep-alive')
    expect(headers['connection']).toBe('keep-alive')
  })

  it.each([
    ['with length', 'content-length: 1\r\n', 'x'],
    ['in chunks', 'transfer-encoding: chunked\r\n', '1\r\nx\r\n0\r\n\r\n'],
  ])('has the bytes of each header as they came, beyond ASCII too: %s', async (_, length, body) => {
    const names = ['content-disposition', 'etag', 'x-named'] as const
    const values = Buffer.from('attachment; filename="naïve-é-日本.pdf"').toString('latin1')
    const origin = await tcpUpstream((socket) => {
      socket.on('data', () => {
        // A length that comes first must not have the others recoded.
        const head = names.map((name) => `${name}: ${values}\r\n`).join('')
        socket.write(`HTTP/1.1 200 OK\r\n${length}content-type: text/plain\r\n${head}\r\n${body}`, 'latin1')
      })
    })
    for (const cache of [false, true]) {
      const app = await passing(origin, { responseHeaders: ['x-named'] }, {}, { cache })
      const { said } = await dial(await listening(app), 'GET /a HTTP/1.1\r\nhost: a\r\n\r\n')
      await expect.poll(() => said()).toMatch(/\r\n\r\n.*x/s)
      for (const name of names) expect(said()).toContain(`${name}: ${values}\r\n`)
    }
  })

  it.each([400, 404, 500, 503])('may be a %i', async (code) => {
    const origin = await upstream((_, response) => void response.writeHead(code, { 'retry-after': '3' }).end('no'))
    const { statusCode, headers, body } = await (await passing(origin)).inject('/a')
    expect([statusCode, headers['retry-after'], body]).toEqual([code, '3', 'no'])
  })

  it('to HEAD is that of the upstream to HEAD, with the length of GET', async () => {
    const methods: unknown[] = []
    const origin = await upstream((request, response) => {
      methods.push(request.method)
      response.writeHead(200, { 'content-length': 5_000_000, 'content-type': 'text/plain' }).end()
    })
    const app = await passing(origin)
    const { statusCode, headers, body } = await app.inject({ method: 'HEAD', url: '/a' })
    expect([statusCode, headers['content-length'], headers['content-type'], body]).toEqual([
      200,
      '5000000',
      'text/plain',
      '',
    ])
    expect(methods).toEqual(['HEAD'])
  })

  it.each([
    [204, {}],
    [304, { etag: '"1"', 'content-length': '5' }],
  ])('may be a %i, without body', async (code, headers) => {
    const origin = await upstream((request, response) => {
      response.writeHead(code, headers).end()
      expect(request.headers['if-none-match']).toBe('"1"')
    })
    const app = await passing(origin, { forwardHeaders: ['if-none-match'] })
    const port = await listening(app)
    const { socket, said } = await dial(port, 'GET /a HTTP/1.1\r\nhost: a\r\nif-none-match: "1"\r\n\r\n')
    await expect.poll(() => said()).toMatch(new RegExp(`^HTTP/1.1 ${code} .*\r\n\r\n$`, 's'))
    // The next one is not taken for its body.
    socket.write('GET /a HTTP/1.1\r\nhost: a\r\nif-none-match: "1"\r\n\r\n')
    await expect.poll(() => said().match(new RegExp(`HTTP/1.1 ${code}`, 'g'))).toHaveLength(2)
    expect(said()).not.toContain('transfer-encoding')
    expect(said().includes('etag: "1"')).toBe(code === 304)
  })

  it('is streamed while it arrives', async () => {
    let more: () => void = () => {}
    const origin = await upstream((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
      more = () => void response.end('data: 2\n\n')
    })
    const port = await listening(await passing(origin))
    const { said } = await dial(port, 'GET /a HTTP/1.1\r\nhost: a\r\n\r\n')
    await expect.poll(() => said()).toContain('data: 1')
    expect(said()).not.toContain('data: 2')
    more()
    await expect.poll(() => said()).toContain('data: 2')
    expect(said()).toMatch(/\r\n0\r\n\r\n$/)
  })

  it.each(['declared', 'chunks'])('may be larger than `maxResponseBytes` of the upstream: %s', async (kind) => {
    const size = 5_000_000
    const origin = await upstream((_, response) => {
      if (kind === 'declared') response.setHeader('content-length', size)
      for (let at = 0; at < size; at += 500_000) response.write(Buffer.alloc(500_000, 'a'))
      response.end()
    })
    for (const cache of [false, true]) {
      const app = await passing(origin, {}, {}, { maxResponseBytes: 10_000, cache })
      const { statusCode, rawPayload } = await app.inject('/a')
      expect([statusCode, rawPayload.length]).toEqual([200, size])
    }
  })

  it('has its head before the body begins', async () => {
    let end: () => void = () => {}
    const origin = await upstream((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      end = () => void response.end('data: 1\n\n')
    })
    const { said } = await dial(await listening(await passing(origin)), 'GET /a HTTP/1.1\r\nhost: a\r\n\r\n')
    await expect.poll(() => said()).toMatch(/^HTTP\/1.1 200 OK\r\n.*content-type: text\/event-stream.*\r\n\r\n$/s)
    end()
    await expect.poll(() => said()).toMatch(/data: 1.*\r\n0\r\n\r\n$/s)
  })

  it('has at most `maxResponseBytes` of the endpoint', async () => {
    const origin = await upstream((request, response) => {
      if (request.url === '/files/declared') response.setHeader('content-length', 20_000)
      response.write('a'.repeat(9000))
      setTimeout(() => response.end('a'.repeat(11_000)), 50)
    })
    const app = await passing(origin, { maxResponseBytes: 10_000 })
    const { statusCode, headers, json } = await app.inject('/declared')
    expect([statusCode, json(), headers['content-length']]).toEqual([
      502,
      {
        statusCode: 502,
        code: 'AGGREGATOR_GATEWAY_UPSTREAM_FAILED',
        error: 'Bad Gateway',
        message: 'The call to it responded with more than is allowed',
      },
      expect.any(String),
    ])
    const { closed, said } = await dial(await listening(app), 'GET /chunks HTTP/1.1\r\nhost: a\r\n\r\n')
    expect(await closed).toBe('ECONNRESET')
    expect(said()).not.toMatch(/0\r\n\r\n$/)
  })
})

describe('a request', () => {
  it('has only the named headers, query parameters and body', async () => {
    let seen: unknown
    const origin = await upstream((request, response) => {
      seen = [request.method, request.url, request.headers]
      response.end()
    })
    const app = await passing(
      origin,
      {
        allowEncodedSlash: true,
        forwardHeaders: ['x-tenant'],
        forwardQuery: ['page', 'tag', 'missing'],
        headers: { 'x-from': 'gateway' },
      },
      { method: 'DELETE' },
    )
    await app.inject({
      method: 'DELETE',
      url: '/a%2Fb?page=1%262&tag=x&tag=y%20z&admin=1',
      headers: {
        connection: 'keep-alive, X-Hidden',
        'x-tenant': 'acme',
        cookie: 'a=1',
        authorization: 'Bearer x',
        'content-type': 'text/plain',
      },
      payload: 'text',
    })
    expect(seen).toEqual([
      'DELETE',
      '/files/a%2Fb?page=1%262&tag=x&tag=y%20z',
      { host: origin.slice(7), connection: 'keep-alive', 'x-tenant': 'acme', 'x-from': 'gateway' },
    ])
  })

  it.each([
    ['%2e%2e', 400],
    ['..%2F..%2Fadmin', 400],
    ['a%0d%0ax-evil:%201', 400],
    ['a%3Fadmin=1%23', '/files/a%3Fadmin%3D1%23'],
    ['%00', 400],
  ])('for %s stays in its place', async (id, expected) => {
    const urls: unknown[] = []
    const origin = await upstream((request, response) => {
      urls.push(request.url)
      expect(request.headers).not.toHaveProperty('x-evil')
      response.end()
    })
    const { statusCode } = await (await passing(origin, { forwardQuery: ['a'] })).inject(`/${id}`)
    expect(typeof expected === 'number' ? [statusCode, urls] : urls).toEqual(
      typeof expected === 'number' ? [expected, []] : [expected],
    )
  })

  it('has the method of `passThrough.method`', async () => {
    const origin = await upstream((request, response) => void response.end(request.method))
    const app = await passing(origin, { method: 'PUT', path: '/x' }, { method: 'POST' })
    expect((await app.inject({ method: 'POST', url: '/a' })).body).toBe('PUT')
  })

  it('has the body unchanged, of any type', async () => {
    const origin = await upstream((request, response) => {
      const hash = createHash('sha256')
      const { 'content-type': type, 'content-length': length, 'transfer-encoding': coding } = request.headers
      request.on('data', (chunk: Buffer) => hash.update(chunk))
      request.on('end', () => response.end(JSON.stringify([type, length, coding, hash.digest('hex')])))
    })
    const app = await passing(origin, { forwardBody: true }, { method: 'POST' })
    const port = await listening(app)
    const payload = randomBytes(900_000)
    const hash = createHash('sha256').update(payload).digest('hex')
    const post = async (headers: Record<string, string>): Promise<unknown> => {
      const request = httpRequest({ port, path: '/a', method: 'POST', headers: { 'content-type': 'a/b', ...headers } })
      for (let at = 0; at < payload.length; at += 100_000) request.write(payload.subarray(at, at + 100_000))
      request.end()
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      return JSON.parse((await sent(response)).toString())
    }
    expect(await post({ 'content-length': '900000' })).toEqual(['a/b', '900000', null, hash])
    expect(await post({ 'transfer-encoding': 'chunked' })).toEqual(['a/b', null, 'chunked', hash])
    // Invalid JSON is none of the gateway's business, nor that there is none.
    const invalid = {
      method: 'POST',
      url: '/a',
      headers: { 'content-type': 'application/json' },
      payload: '{',
    } as const
    expect((await app.inject(invalid)).json<string[]>()[0]).toBe('application/json')
    expect((await app.inject({ method: 'POST', url: '/a' })).json<unknown[]>()[1]).toBe('0')
  })

  it.each(['declared', 'undeclared'])('above `bodyLimit`, %s, gets a 413', async (kind) => {
    const open = new Set<IncomingMessage>()
    const origin = await upstream((request) => {
      open.add(request.resume().on('error', () => {}))
      request.once('close', () => open.delete(request))
    })
    const app = await gateway({
      upstreams: { it: origin },
      endpoints: [
        { path: '/', method: 'POST', timeout: 300, passThrough: { upstream: 'it', path: '/', forwardBody: true } },
      ],
      fastify: { bodyLimit: 100_000 },
    })
    const port = await listening(app)
    const length = kind === 'declared' ? { 'content-length': 200_000 } : { 'transfer-encoding': 'chunked' }
    const request = httpRequest({ port, method: 'POST', headers: { 'content-type': 'a/b', ...length } })
    request.on('error', () => {})
    request.write(Buffer.alloc(60_000))
    setTimeout(() => request.end(Buffer.alloc(140_000)), 50)
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    expect([response.statusCode, response.headers.connection]).toEqual([413, 'close'])
    expect(JSON.parse((await sent(response)).toString())).toMatchObject({ code: 'FST_ERR_CTP_BODY_TOO_LARGE' })
    await expect.poll(() => open.size).toBe(0)
    expect(
      (await app.inject({ method: 'POST', url: '/', payload: 'x', headers: { 'content-type': 'a/b' } })).statusCode,
    ).toBe(504)
  })

  it('other routes of the gateway and the app still parse bodies', async () => {
    const origin = await upstream((_, response) => void response.setHeader('content-type', 'application/json').end('1'))
    const app = await gateway({
      upstreams: { it: origin },
      endpoints: [
        { path: '/', method: 'POST', passThrough: { upstream: 'it', path: '/', forwardBody: true } },
        { path: '/calls', method: 'POST', calls: { one: { upstream: 'it', path: '/{body.id}' } } },
      ],
    })
    expect((await app.inject({ method: 'POST', url: '/calls', payload: { id: 1 } })).json()).toEqual({ one: 1 })
    const text = { method: 'POST', url: '/calls', payload: 'x', headers: { 'content-type': 'a/b' } } as const
    expect((await app.inject(text)).statusCode).toBe(415)
  })
})

describe('a client that leaves', () => {
  it.each([
    ['before the answer', ''],
    ['in the middle of it', 'begun'],
  ])('%s, ends the request', async (_, begun) => {
    const open = new Set<Socket>()
    const origin = await upstream((request, response) => {
      open.add(request.socket)
      request.socket.once('close', () => open.delete(request.socket))
      if (begun) response.write(begun)
    })
    const app = await passing(origin, {}, { timeout: 60_000 })
    const { socket, said } = await dial(await listening(app), 'GET /a HTTP/1.1\r\nhost: a\r\n\r\n')
    await expect.poll(() => open.size).toBe(1)
    await expect.poll(() => said()).toContain(begun)
    socket.destroy()
    await expect.poll(() => open.size).toBe(0)
  })

  it('in the middle of its body, ends the request', async () => {
    const open = new Set<Socket>()
    const origin = await upstream((request) => {
      request.resume().on('error', () => {})
      open.add(request.socket)
      request.socket.once('close', () => open.delete(request.socket))
    })
    const app = await passing(origin, { forwardBody: true }, { method: 'POST', timeout: 60_000 })
    const { socket } = await dial(
      await listening(app),
      'POST /a HTTP/1.1\r\nhost: a\r\ncontent-type: a/b\r\ncontent-length: 10\r\n\r\n12345',
    )
    await expect.poll(() => open.size).toBe(1)
    socket.destroy()
    await expect.poll(() => open.size).toBe(0)
  })

  it('does not count against the upstream', async () => {
    let hanging = 0
    const origin = await upstream((request, response) => {
      if (request.url === '/files/fast') response.end('fast')
      else hanging++
    })
    const app = await passing(origin, {}, { timeout: 60_000 }, { circuitBreaker: { window: 2, resetTimeout: 60_000 } })
    const port = await listening(app)
    for (let count = 1; count <= 5; count++) {
      const { socket } = await dial(port, 'GET /a HTTP/1.1\r\nhost: a\r\n\r\n')
      await expect.poll(() => hanging).toBe(count)
      socket.destroy()
    }
    expect((await app.inject('/fast')).body).toBe('fast')
  })
})

describe('an upstream that fails', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncache-control: max-age=9\r\netag: "1"\r\n'
  const breaking = (text: string, then: (socket: Socket) => void): Promise<string> =>
    tcpUpstream((socket) => {
      socket.on('data', () => {
        socket.write(text)
        setTimeout(then, 50, socket)
      })
    })

  it.each<[string, () => Promise<string>]>([
    ['refuses', nobody],
    ['closes at once', () => tcpUpstream((socket) => void socket.destroy())],
    ['speaks no HTTP', () => breaking('220 smtp\r\n', () => {})],
    [
      'resets after the headers',
      () => breaking(`${head}content-length: 10\r\n\r\n`, (socket) => void socket.resetAndDestroy()),
    ],
  ])('%s: 502, with nothing of its answer', async (_, origin) => {
    const { statusCode, headers, json } = await (await passing(await origin())).inject('/a')
    expect([statusCode, json()]).toEqual([
      502,
      {
        statusCode: 502,
        code: 'AGGREGATOR_GATEWAY_UPSTREAM_FAILED',
        error: 'Bad Gateway',
        message: 'The call to it did not respond',
      },
    ])
    expect(Object.keys(headers).toSorted()).toEqual(['connection', 'content-length', 'content-type', 'date'])
  })

  it.each<[string, string, string, (socket: Socket) => void]>([
    [
      'with length, by a reset',
      'HTTP/1.1',
      `${head}content-length: 10\r\n\r\n12345`,
      (socket) => void socket.resetAndDestroy(),
    ],
    ['with length, by its end', 'HTTP/1.1', `${head}content-length: 10\r\n\r\n12345`, (socket) => void socket.end()],
    ['in chunks', 'HTTP/1.1', `${head}transfer-encoding: chunked\r\n\r\n5\r\n12345\r\n`, (socket) => void socket.end()],
    [
      'for a client of HTTP/1.0',
      'HTTP/1.0',
      `${head}transfer-encoding: chunked\r\n\r\n5\r\n12345\r\n`,
      (socket) => void socket.end(),
    ],
  ])('in the middle of an answer %s: the client is reset', async (_, version, text, then) => {
    const app = await passing(await breaking(text, then))
    const { said, closed } = await dial(await listening(app), `GET /a ${version}\r\nhost: a\r\n\r\n`)
    expect(await closed).toBe('ECONNRESET')
    expect(said()).toContain('12345')
    expect(said()).not.toMatch(/0\r\n\r\n$/)
  })

  it('is not called while its circuit is open, and is probed after it', async () => {
    let code = 500
    let asked = 0
    const origin = await upstream((_, response) => {
      asked++
      response.writeHead(code).end('x')
    })
    const app = await passing(origin, {}, {}, { circuitBreaker: { window: 4, resetTimeout: 300 } })
    for (let count = 0; count < 4; count++) expect((await app.inject('/a')).statusCode).toBe(500)
    const { statusCode, json } = await app.inject('/a')
    expect([statusCode, json<{ code: string }>().code, asked]).toEqual([502, 'AGGREGATOR_GATEWAY_CIRCUIT_OPEN', 4])
    code = 200
    await expect.poll(async () => (await app.inject('/a')).statusCode).toBe(200)
    expect((await app.inject('/a')).statusCode).toBe(200)
  })

  it('with a full queue: 503, and all requests get a response', async () => {
    const waiting: (() => void)[] = []
    const origin = await upstream((_, response) => void waiting.push(() => response.end('x')))
    const app = await passing(origin, {}, { timeout: 5000 }, { maxConnections: 1, maxQueue: 1 })
    const both = Promise.all([app.inject('/a'), app.inject('/a')])
    await expect.poll(() => waiting).toHaveLength(1)
    const { statusCode, json } = await app.inject('/a')
    expect([statusCode, json<{ code: string }>().code]).toEqual([503, 'AGGREGATOR_GATEWAY_OVERLOADED'])
    waiting.shift()!()
    await expect.poll(() => waiting).toHaveLength(1)
    waiting.shift()!()
    expect((await both).map((answer) => answer.statusCode)).toEqual([200, 200])
    const third = app.inject('/a')
    await expect.poll(() => waiting).toHaveLength(1)
    waiting.shift()!()
    expect((await third).statusCode).toBe(200)
  })

  it('of several origins: another one responds', async () => {
    const good = await upstream((_, response) => void response.end('x'))
    const app = await passing([await nobody(), good])
    const answers = await Promise.all(Array.from({ length: 6 }, () => app.inject('/a')))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 6 }, () => 200))
  })

  it('by closing a keep-alive connection: the request is sent again', async () => {
    let connections = 0
    const origin = await tcpUpstream((socket) => {
      connections++
      let requests = 0
      socket.on('data', () => {
        if (++requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx')
        else socket.destroy()
      })
    })
    const app = await passing(origin)
    const bodies = [await app.inject('/a'), await app.inject('/a'), await app.inject('/a')].map(({ body }) => body)
    expect([bodies, connections]).toEqual([['x', 'x', 'x'], 3])
  })
})

describe.each<[string, object, (port: number, path: string) => Promise<[number, string] | 'reset'>]>([
  [
    'TLS',
    { https: TLS },
    async (port, path) => {
      const request = httpsRequest({ port, path, rejectUnauthorized: false }).end()
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      return sent(response).then(
        (body) => [response.statusCode!, body.toString()],
        () => 'reset' as const,
      )
    },
  ],
  [
    'HTTP/2',
    { http2: true },
    async (port, path) => {
      const session = connectHttp2(`http://127.0.0.1:${port}`)
      onTestFinished(() => session.close())
      const stream = session.request({ ':path': path })
      const [headers] = (await once(stream, 'response')) as [{ ':status': number }]
      let text = ''
      stream.setEncoding('utf8').on('data', (part: string) => (text += part))
      return once(stream, 'close').then(
        () => [headers[':status'], text],
        () => 'reset' as const,
      )
    },
  ],
])('by %s', (_, options, get) => {
  it('a response is complete, or is reset', async () => {
    const origin = await upstream((request, response) => {
      response.writeHead(200, { 'content-length': 10 }).write('12345')
      if (request.url === '/ends') response.end('67890')
      else setTimeout(() => request.socket.resetAndDestroy(), 50)
    })
    const app = Fastify(options)
    onTestFinished(() => app.close())
    await app.register(gatewayPlugin, {
      upstreams: { it: origin },
      endpoints: [{ path: '/:id', passThrough: { upstream: 'it', path: '/{params.id}' } }],
    })
    const port = await listening(app)
    expect([await get(port, '/ends'), await get(port, '/resets'), await get(port, '/ends')]).toEqual([
      [200, '1234567890'],
      'reset',
      [200, '1234567890'],
    ])
  })
})

it("the route has Fastify's options", async () => {
  const origin = await upstream((_, response) => void response.end('x'))
  const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> =>
    request.headers.authorization ? undefined : reply.code(401).send('no')
  const app = await passing(origin, {}, { route: { onRequest } })
  const answers = [await app.inject('/a'), await app.inject({ url: '/a', headers: { authorization: 'x' } })]
  expect(answers.map(({ statusCode, body }) => [statusCode, body])).toEqual([
    [401, 'no'],
    [200, 'x'],
  ])
  await expect(passing(origin, {}, { route: { config: { rateLimit: {} } } })).rejects.toMatchObject({
    code: 'AGGREGATOR_GATEWAY_INVALID_OPTION',
  })
})

it('observers see it as a call', async () => {
  const told: unknown[] = []
  const observer: GatewayObserver<string> = {
    callStarted({ endpoint, name, upstream: to, method, path }, _request, headers) {
      headers['traceparent'] = '1'
      told.push([endpoint, name, to, method, path])
      return 'state'
    },
    callEnded(_call, { duration: _duration, cause: _cause, ...end }, state) {
      told.push([end, state])
    },
  }
  let isHanging = false
  const traces: unknown[] = []
  const origin = await upstream((request, response) => {
    traces.push(request.headers['traceparent'])
    if (!isHanging) response.writeHead(404).end('x')
  })
  const app = await gateway({
    upstreams: { it: { origin, circuitBreaker: false } },
    endpoints: [
      { path: '/:id', timeout: 10_000, passThrough: { upstream: 'it', path: '/files/{params.id}' } },
      { path: '/hangs/:id', timeout: 50, passThrough: { upstream: 'it', path: '/files/{params.id}' } },
    ],
    observers: [observer],
  })
  const call = [{ method: 'GET', path: '/:id' }, 'passThrough', 'it', 'GET', '/files/{params.id}']
  const end = { attempts: 1, hedged: false, origin, status: undefined }
  await app.inject('/a')
  isHanging = true
  await app.inject('/hangs/a')
  const port = await listening(app)
  const { socket } = await dial(port, 'GET /a HTTP/1.1\r\nhost: a\r\n\r\n')
  await expect.poll(() => traces).toHaveLength(3)
  socket.destroy()
  await expect.poll(() => told).toHaveLength(6)
  expect(told).toEqual([
    call,
    [{ ...end, status: 404, reason: undefined, message: undefined }, 'state'],
    [{ method: 'GET', path: '/hangs/:id' }, ...call.slice(1)],
    [{ ...end, reason: 'timeout', message: 'did not respond in time' }, 'state'],
    call,
    [{ ...end, reason: 'client-left', message: 'was aborted: the client left' }, 'state'],
  ])
  expect(traces).toEqual(['1', '1', '1'])
})

it('hooks may delay and change it, while the upstream fails', async () => {
  const origin = await upstream((request, response) => {
    response.writeHead(201, { etag: '"1"', 'content-length': 5 })
    response.flushHeaders()
    if (request.url === '/ends') response.end('12345')
    else setTimeout(() => request.socket.resetAndDestroy(), 20)
  })
  const app = Fastify()
  onTestFinished(() => app.close())
  app.addHook('onSend', async (_request, reply, payload) => {
    await new Promise((resolve) => setTimeout(resolve, 100))
    reply.header('x-hook', '1')
    return payload
  })
  await app.register(gatewayPlugin, {
    upstreams: { it: origin },
    endpoints: [{ path: '/:id', passThrough: { upstream: 'it', path: '/{params.id}' } }],
  })
  const ended = await app.inject('/ends')
  expect([ended.statusCode, ended.headers['etag'], ended.headers['x-hook'], ended.body]).toEqual([
    201,
    '"1"',
    '1',
    '12345',
  ])
  const failed = await app.inject('/resets')
  expect([failed.statusCode, failed.headers['etag'], failed.headers['x-hook']]).toEqual([502, undefined, '1'])
})
