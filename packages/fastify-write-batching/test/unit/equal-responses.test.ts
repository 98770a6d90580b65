// Each response of an app with the plugin is compared with that of the same app without it, byte for byte, the date aside.

import { Readable } from 'node:stream'
import compress from '@fastify/compress'
import cookie from '@fastify/cookie'
import etag from '@fastify/etag'
import Fastify, { type FastifyInstance } from 'fastify'
import { fastifyWriteBatching } from 'fastify-write-batching'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendOnAll } from '../helpers/busy-ticks.ts'
import { connections, get, type RawClient } from '../helpers/raw-client.ts'

/** Body of the request that follows each compared one. */
const SENTINEL = 'end of the compared bytes'

const schema = { querystring: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } } }

/** Routes whose responses are one write, most of them. */
function addResponses(app: FastifyInstance): void {
  app.get('/text', (_request, reply) => void reply.send('hello'))
  app.get('/json', async () => ({ hello: 'wörld' }))
  app.get('/buffer', async (_request, reply) => reply.type('image/png').send(Buffer.from([0, 255, 13, 10])))
  app.get('/empty', async () => '')
  app.get('/null', (_request, reply) => void reply.send(null))
  app.get('/no-content', (_request, reply) => void reply.code(204).send())
  app.get('/created', (_request, reply) => void reply.code(201).header('x-b', '1').header('x-a', '2').send('created'))
  app.get('/redirect', (_request, reply) => void reply.redirect('/text'))
  app.get('/cookies', (_request, reply) => void reply.setCookie('a', '1').setCookie('b', '2').send('cookies'))
  app.get('/large', async () => 'x'.repeat(300_000))
  app.get('/close', (_request, reply) => void reply.header('connection', 'close').send('bye'))
  app.get('/later', async () => new Promise((resolve) => setTimeout(resolve, 1, 'later')))
  app.get('/immediate', async () => new Promise((resolve) => setImmediate(resolve, 'immediate')))
  app.get('/validated', { schema }, async () => 'valid')
  app.post('/echo', async (request) => request.body)
}

/** Routes that send in more than one write, or by the response of Node. */
function addStreams(app: FastifyInstance): void {
  app.get('/stream', async (_request, reply) => reply.send(Readable.from(['one', 'two', 'three'])))
  app.get('/web-stream', async () => new Response(new Blob(['web']).stream(), { headers: { 'x-web': '1' } }))
  app.get('/failing-stream', async (_request, reply) => reply.send(Readable.from(failing())))
  app.get('/trailers', (_request, reply) => {
    reply.trailer('x-trailer', async () => 'after')
    reply.send('with trailers')
  })
  app.get('/hijacked', (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { 'x-raw': '1' })
    for (const part of ['a', 'b', 'c']) reply.raw.write(part)
    reply.raw.end('d')
  })
  app.get('/raw', (_request, reply) => void reply.raw.end('raw'))
  app.get('/flushed', (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-length': 4 })
    reply.raw.flushHeaders()
    setImmediate(() => reply.raw.end('late'))
  })
  app.get('/hints', (_request, reply) => {
    reply.raw.writeEarlyHints({ link: '</style.css>; rel=preload' })
    reply.send('hinted')
  })
  app.get('/corked', (_request, reply) => {
    reply.hijack()
    reply.raw.cork()
    reply.raw.write('1')
    setImmediate(() => {
      reply.raw.uncork()
      reply.raw.end('2')
    })
  })
  app.get('/socket', (request, reply) => {
    reply.hijack()
    request.raw.socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nby hand')
  })
}

async function* failing(): AsyncGenerator<string> {
  yield 'begun'
  throw new Error('The stream failed')
}

/** Routes that fail, or that go on when they have sent. */
function addMistakes(app: FastifyInstance): void {
  app.get('/throws', () => {
    throw new Error('thrown')
  })
  app.get('/rejects', async () => Promise.reject(Object.assign(new Error('rejected'), { statusCode: 418 })))
  app.get('/not-returned', async (_request, reply) => void reply.send('not returned'))
  app.get('/changed-later', (_request, reply) => {
    reply.send('first')
    reply.code(201).header('x-late', '1')
  })
  app.get('/sent-twice', (_request, reply) => {
    reply.send('first')
    reply.send('second')
  })
  app.get('/sent-and-returned', async (_request, reply) => {
    reply.send('sent')
    return 'returned'
  })
  app.get('/thrown-later', (_request, reply) => {
    reply.send('sent')
    throw new Error('too late')
  })
  app.get('/destroyed', (request, reply) => {
    reply.send('last words')
    request.raw.socket.destroy()
  })
  app.get('/destroyed-by-error', (request, reply) => {
    reply.send('last words')
    request.raw.socket.destroy(new Error('The client is a threat'))
  })
  app.get('/ended', (request, reply) => {
    reply.send('last words')
    request.raw.socket.end()
  })
}

/** Routes behind hooks of other plugins. */
async function addHooks(app: FastifyInstance): Promise<void> {
  await app.register(async (scope) => {
    await scope.register(etag)
    scope.get('/etag', async () => 'tagged')
    scope.get('/known', async (_request, reply) => reply.header('etag', '"known"').send('tagged'))
  })
  await app.register(async (scope) => {
    await scope.register(compress, { threshold: 0 })
    scope.get('/compressed', async () => 'compressed '.repeat(100))
  })
  await app.register(async (scope) => {
    scope.addHook('onSend', async (_request, reply, payload) => (reply.header('x-hook', '1'), `${String(payload)}!`))
    scope.get('/async-hook', async () => 'hooked')
  })
  await app.register(async (scope) => {
    scope.addHook('onSend', (_request, _reply, _payload, done) => done(new Error('The hook failed')))
    scope.get('/failing-hook', async () => 'never seen')
  })
  await app.register(async (scope) => {
    scope.addHook('onRequest', async (_request, reply) => reply.code(401).send('who are you?'))
    scope.get('/refused', async () => 'never seen')
  })
}

/** The plugin comes before or after the hooks of others. */
async function createApp(order: 'without' | 'first' | 'last'): Promise<FastifyInstance> {
  const app = Fastify()
  if (order === 'first') await app.register(fastifyWriteBatching)
  await app.register(cookie)
  // With an asynchronous one, Fastify itself breaks for handlers that go on when they have sent.
  app.addHook('onSend', (_request, reply, _payload, next) => (reply.header('x-on-send', '1'), next()))
  app.get('/sentinel', async () => SENTINEL)
  addResponses(app)
  addStreams(app)
  addMistakes(app)
  await addHooks(app)
  if (order === 'last') await app.register(fastifyWriteBatching)
  return app
}

const post = (path: string, body: string, headers = ''): string =>
  `POST ${path} HTTP/1.1\r\nhost: it\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${headers}\r\n${body}`

const GETS = [
  ...['/text', '/json', '/buffer', '/empty', '/null', '/no-content', '/created', '/redirect', '/cookies', '/large'],
  ...['/close', '/later', '/immediate', '/validated?id=1', '/validated?id=x', '/missing', '/%'],
  ...['/stream', '/web-stream', '/failing-stream', '/trailers', '/hijacked', '/raw', '/flushed', '/hints', '/corked'],
  ...['/socket', '/throws', '/rejects', '/not-returned', '/changed-later', '/sent-twice', '/sent-and-returned'],
  ...[
    '/thrown-later',
    '/destroyed',
    '/destroyed-by-error',
    '/ended',
    '/etag',
    '/compressed',
    '/async-hook',
    '/failing-hook',
    '/refused',
  ],
]
const HEADS = ['/text', '/json', '/empty', '/large', '/stream', '/etag', '/missing', '/throws']

const REQUESTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(GETS.map((path) => [`GET ${path}`, get(path)])),
  ...Object.fromEntries(HEADS.map((path) => [`HEAD ${path}`, get(path).replace('GET', 'HEAD')])),
  'GET /known that has not changed': get('/known', 'if-none-match: "known"\r\n'),
  'GET /compressed with gzip': get('/compressed', 'accept-encoding: gzip\r\n'),
  'GET with connection: close': get('/text', 'connection: close\r\n'),
  'GET of HTTP/1.0': 'GET /text HTTP/1.0\r\nhost: it\r\n\r\n',
  'GET of HTTP/1.0 that is kept alive': 'GET /text HTTP/1.0\r\nhost: it\r\nconnection: keep-alive\r\n\r\n',
  'POST /echo': post('/echo', '{"a":1}'),
  'POST /echo with 100-continue': post('/echo', '{"a":1}', 'expect: 100-continue\r\n'),
  'POST /echo with another expectation': post('/echo', '{"a":1}', 'expect: a miracle\r\n'),
  // Only newer versions of Fastify close the connection by themselves.
  'POST /echo with a broken body': post('/echo', '{"a"', 'connection: close\r\n'),
  'POST /text, which has no such route': post('/text', '{"a":1}'),
  'three pipelined requests': get('/text') + get('/json') + get('/later'),
  'pipelined requests, the first of which is slow': get('/later') + get('/text') + get('/json'),
  'a pipelined request behind the last one': get('/close') + get('/text'),
  'a malformed request': 'GET /text HTTP/1.1\r\nhost it\r\n\r\n',
  'headers that are too long': get('/text', `x-long: ${'x'.repeat(20_000)}\r\n`),
  'no request': '\r\n\r\n',
}

/** Requests after which the server closes the connection. */
const CLOSING = [
  ...['/failing-stream', '/close', '/socket', '/destroyed', '/destroyed-by-error', '/ended'].map(
    (path) => `GET ${path}`,
  ),
  ...['GET with connection: close', 'GET of HTTP/1.0', 'a pipelined request behind the last one'],
  ...['POST /echo with a broken body', 'a malformed request', 'headers that are too long'],
]

const CLIENTS = 4
const ROUNDS = 6

const withoutDate = (bytes: string): string => bytes.replaceAll(/^date: .*$/gim, 'date: now')

/** What clients get in all rounds, each response once. */
async function responsesOf(port: number, name: string, request: string): Promise<Set<string>> {
  const responses = new Set<string>()
  let clients: RawClient[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const open = CLOSING.includes(name) ? [] : clients
    clients = [...open, ...(await connections(port, CLIENTS - open.length))]
    for (const bytes of await roundOf(clients, name, request)) responses.add(withoutDate(bytes))
  }
  return responses
}

/** All clients send in one tick. Another request ends the round where the connection stays open. */
async function roundOf(clients: readonly RawClient[], name: string, request: string): Promise<string[]> {
  if (CLOSING.includes(name)) return sendOnAll(clients, request, SENTINEL)
  for (const { socket } of clients) socket.write(request)
  // Most responses have come by then. To others, the last request is pipelined.
  await new Promise((resolve) => setTimeout(resolve, 3))
  return sendOnAll(clients, get('/sentinel'), SENTINEL)
}

let apps: FastifyInstance[]
let ports: number[]

beforeAll(async () => {
  apps = await Promise.all([createApp('without'), createApp('first'), createApp('last')])
  ports = await Promise.all(
    apps.map(async (app) => Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)),
  )
})

afterAll(() => Promise.all(apps.map((app) => app.close())))

describe('with and without the plugin, the bytes are equal', () => {
  it.each(Object.entries(REQUESTS))('%s', async (name, request) => {
    const [without, ...withPlugin] = await Promise.all(ports.map((port) => responsesOf(port, name, request)))
    expect([...without!]).toHaveLength(1)
    expect([...without!][0]).not.toBe('')
    for (const responses of withPlugin) expect(responses).toEqual(without)
  })

  it('while writes are batched', () => {
    for (const app of apps.slice(1)) expect(app.writeBatchingStats().batched).toBeGreaterThan(50)
  })
})
