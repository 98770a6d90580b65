// What an upstream gets of the client's body.

import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import type { Readable } from 'node:stream'
import { createGunzip, gzipSync } from 'node:zlib'
import Fastify, { type FastifyInstance, type InjectOptions, type RouteShorthandOptions } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type CallOptions, gatewayPlugin } from '../../../src/index.ts'
import { gatewayOf, upstream } from '../../helpers/servers.ts'

/** An upstream that keeps what it gets: type, length and body. */
const receiving = async (): Promise<{ origin: string; got: unknown[] }> => {
  const got: unknown[] = []
  const origin = await upstream(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { 'content-type': type, 'content-length': length } = request.headers
    got.push([type, length, Buffer.concat(chunks).toString()])
    if (request.url === '/fails' && got.length === 1) response.writeHead(503, { 'retry-after': '0' }).end()
    else response.writeHead(204).end()
  })
  return { origin, got }
}

const CALL = { path: '/', method: 'POST', forwardBody: true } as const

/** An app with a gateway of one endpoint, to which the test adds before. */
const appWith = async (
  origin: string,
  route: RouteShorthandOptions = {},
  before: (app: FastifyInstance) => void = () => {},
  call: Partial<CallOptions> = {},
): Promise<FastifyInstance> => {
  const app = Fastify()
  onTestFinished(() => app.close())
  before(app)
  await app.register(gatewayPlugin, {
    upstreams: { it: { origin, retryBudget: 1 } },
    endpoints: [{ path: '/', method: 'POST', calls: { one: { upstream: 'it', ...CALL, ...call } }, route }],
  })
  return app
}

const BIG = '{ "id": 12345678901234567890, "price": 1.10, "a": 1, "a": 2, "text": "é\\u00e9" }'
const JSON_TYPE = 'application/json; charset=utf-8'
const post = (payload: string | Buffer, type = JSON_TYPE, headers: Record<string, string> = {}) =>
  ({ method: 'POST', url: '/', payload, headers: { 'content-type': type, ...headers } }) as const
const bytes = (text: string): string => String(Buffer.byteLength(text))

it('forwards JSON byte by byte: big numbers, spaces, names twice', async () => {
  const { origin, got } = await receiving()
  expect((await (await appWith(origin)).inject(post(BIG))).statusCode).toBe(200)
  expect(got).toEqual([[JSON_TYPE, bytes(BIG), BIG]])
})

it('forwards a large body that comes in many parts', async () => {
  const { origin, got } = await receiving()
  const app = await appWith(origin)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const text = JSON.stringify(Array.from({ length: 50_000 }, (_, index) => index))
  const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  onTestFinished(() => void client.destroy())
  client.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n')
  for (let at = 0; at < text.length; at += 10_000) {
    const part = text.slice(at, at + 10_000)
    client.write(`${part.length.toString(16)}\r\n${part}\r\n`)
  }
  client.write('0\r\n\r\n')
  await expect.poll(() => got).toEqual([['application/json', bytes(text), text]])
})

it.each<[string, InjectOptions]>([
  ['POST without a body', { method: 'POST', url: '/' }],
  ['POST with an empty text', post('', 'text/plain')],
])('forwards nothing, and no type, of a %s', async (_, request) => {
  const { origin, got } = await receiving()
  expect((await (await appWith(origin)).inject(request)).statusCode).toBe(200)
  expect(got).toEqual([[undefined, '0', '']])
})

it.each([
  ['text', 'text/plain; charset=utf-8', 'Hello "you"'],
  ['the JSON null', 'application/json', 'null'],
])('forwards %s as it is, with its type', async (_, type, text) => {
  const { origin, got } = await receiving()
  expect((await (await appWith(origin)).inject(post(text, type))).statusCode).toBe(200)
  expect(got).toEqual([[type, bytes(text), text]])
})

it.each<[string, (app: FastifyInstance) => void]>([
  [
    'takes a text',
    (app) =>
      app.addContentTypeParser('application/xml', { parseAs: 'string' }, (_request, text, done) =>
        done(null, { text }),
      ),
  ],
  [
    'reads the stream, later',
    (app) =>
      app.addContentTypeParser('application/xml', async (_request: unknown, payload: Readable) => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        let text = ''
        for await (const chunk of payload) text += String(chunk)
        return text
      }),
  ],
])('forwards what the app has a parser for which %s', async (_, addParser) => {
  const { origin, got } = await receiving()
  const app = await appWith(origin, {}, addParser)
  expect((await app.inject(post('<a/>', 'application/xml'))).statusCode).toBe(200)
  expect(got).toEqual([['application/xml', '4', '<a/>']])
  expect((await app.inject(post('x', 'a/b'))).statusCode).toBe(415)
})

it.each(['app', 'route'])('forwards the body that a preParsing hook of the %s has decompressed', async (place) => {
  const decompress = async (_request: unknown, _reply: unknown, payload: Readable): Promise<Readable> => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    const decompressed = Object.assign(createGunzip(), { receivedEncodedLength: 0 })
    payload.on('data', (chunk: Buffer) => (decompressed.receivedEncodedLength += chunk.length))
    return payload.pipe(decompressed)
  }
  const { origin, got } = await receiving()
  const app = await appWith(origin, place === 'route' ? { preParsing: decompress as never } : {}, (one) => {
    if (place === 'app') one.addHook('preParsing', decompress as never)
  })
  expect((await app.inject(post(gzipSync(BIG), JSON_TYPE, { 'content-encoding': 'gzip' }))).statusCode).toBe(200)
  expect(got).toEqual([[JSON_TYPE, bytes(BIG), BIG]])
})

it('forwards the bytes when a schema changes the value; templates take the value', async () => {
  const { origin, got } = await receiving()
  const paths: unknown[] = []
  const app = await appWith(
    origin,
    {
      schema: {
        body: {
          type: 'object',
          properties: { id: { type: 'integer' }, page: { type: 'integer', default: 1 } },
          required: ['id'],
          additionalProperties: false,
        },
      },
      preHandler: async (request) => void paths.push(request.body),
    },
    () => {},
    { path: '/{body.id}/{body.page}' },
  )
  const text = '{"id":"7","more":1}'
  expect((await app.inject(post(text))).statusCode).toBe(200)
  expect([got, paths]).toEqual([[[JSON_TYPE, bytes(text), text]], [{ id: 7, page: 1 }]])
  expect((await app.inject(post('{}'))).statusCode).toBe(400)
  expect(got).toHaveLength(1)
})

it.each(['app', 'route'])(
  'forwards the value that a preHandler hook of the %s puts into `request.body`',
  async (place) => {
    const replace = async (request: { body: unknown }): Promise<void> => {
      request.body = { mine: true }
    }
    const { origin, got } = await receiving()
    const app = await appWith(origin, place === 'route' ? { preHandler: replace } : {}, (one) => {
      if (place === 'app') one.addHook('preHandler', replace)
    })
    await app.inject(post(BIG))
    await app.inject({ method: 'POST', url: '/' })
    expect(got).toEqual([
      ['application/json', '13', '{"mine":true}'],
      ['application/json', '13', '{"mine":true}'],
    ])
  },
)

it('forwards nothing when a hook removes the body', async () => {
  const { origin, got } = await receiving()
  const preHandler = async (request: { body: unknown }): Promise<void> => void (request.body = undefined)
  await (await appWith(origin, { preHandler })).inject(post(BIG))
  expect(got).toEqual([[undefined, '0', '']])
})

it('sends the bytes again in a retry, and to each call', async () => {
  const { origin, got } = await receiving()
  const app = await gatewayOf(
    origin,
    { one: { ...CALL, method: 'PUT', path: '/fails', retries: 1 }, two: { ...CALL, path: '/two' } },
    { method: 'POST' },
  )
  expect((await app.inject(post(BIG))).statusCode).toBe(200)
  expect(got).toEqual(Array.from({ length: 3 }, () => [JSON_TYPE, bytes(BIG), BIG]))
})

it("has the content type of the call's own headers", async () => {
  const { origin, got } = await receiving()
  const app = await appWith(origin, {}, () => {}, { headers: { 'Content-Type': 'application/vnd.mine+json' } })
  await app.inject(post('{}'))
  expect(got).toEqual([['application/vnd.mine+json', '2', '{}']])
})

describe('a body that is not taken', () => {
  it.each<[string, ReturnType<typeof post>, number]>([
    ['is no JSON', post('{'), 400],
    ['has a type without a parser', post('x', 'a/b'), 415],
    ['is too large', post(JSON.stringify('a'.repeat(2000))), 413],
    ['is empty JSON', post(''), 400],
  ])('as it %s is answered as by any route, and not forwarded', async (_, request, status) => {
    const { origin, got } = await receiving()
    const app = await appWith(origin, { bodyLimit: 1000 })
    expect((await app.inject(request)).statusCode).toBe(status)
    expect(got).toEqual([])
  })

  it('gets a 413 if it is too large and undeclared', async () => {
    const { origin, got } = await receiving()
    const app = await appWith(origin, { bodyLimit: 1000 })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    onTestFinished(() => void client.destroy())
    let said = ''
    client.setEncoding('latin1').on('data', (part: string) => (said += part))
    client.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n')
    for (let part = 0; part < 20; part++) client.write(`3e8\r\n${'1'.repeat(1000)}\r\n`)
    await expect.poll(() => said).toMatch(/^HTTP\/1.1 413 /)
    expect(got).toEqual([])
  })

  it('is not forwarded if its client leaves in the middle of it', async () => {
    const { origin, got } = await receiving()
    const app = await appWith(origin)
    let isClosed = false
    app.server.on('connection', (socket) => socket.once('close', () => (isClosed = true)))
    await app.listen({ port: 0, host: '127.0.0.1' })
    const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    client.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n[1,')
    await once(client, 'connect')
    await new Promise((resolve) => setTimeout(resolve, 50))
    client.destroy()
    await expect.poll(() => isClosed).toBe(true)
    expect((await app.inject(post('[1]'))).statusCode).toBe(200)
    expect(got).toEqual([[JSON_TYPE, '3', '[1]']])
  })
})

it('forwards the body of an HTTP/2 request', async () => {
  const { origin, got } = await receiving()
  const app = Fastify({ http2: true })
  onTestFinished(() => app.close())
  await app.register(gatewayPlugin, {
    upstreams: { it: origin },
    endpoints: [{ path: '/', method: 'POST', calls: { one: { upstream: 'it', ...CALL } } }],
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const session = connectHttp2(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  onTestFinished(() => session.close())
  const stream = session.request({ ':method': 'POST', ':path': '/', 'content-type': JSON_TYPE })
  stream.end(BIG)
  const [headers] = (await once(stream, 'response')) as [{ ':status': number }]
  stream.resume()
  expect(headers[':status']).toBe(200)
  expect(got).toEqual([[JSON_TYPE, bytes(BIG), BIG]])
})
