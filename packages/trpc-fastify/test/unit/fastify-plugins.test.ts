// Plugins of Fastify beside each adapter: the same requests, and docs/fastify-plugins.md has the outcome.

import { readFileSync } from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import compress from '@fastify/compress'
import cookie from '@fastify/cookie'
import cors from '@fastify/cors'
import etag from '@fastify/etag'
import helmet from '@fastify/helmet'
import jwt from '@fastify/jwt'
import multipart from '@fastify/multipart'
import rateLimit from '@fastify/rate-limit'
import { fastifyRequestContext } from '@fastify/request-context'
import underPressure from '@fastify/under-pressure'
import { initTRPC, TRPCError } from '@trpc/server'
import { type CreateFastifyContextOptions, fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import Fastify, { type FastifyInstance, type InjectOptions, type LightMyRequestResponse } from 'fastify'
import { trpcPlugin } from 'trpc-fastify'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { routing } from '../helpers/peer-versions.ts'

const t = initTRPC.context<CreateFastifyContextOptions>().create({ isDev: false })
const router = t.router({
  hello: t.procedure.query(() => 'world'),
  long: t.procedure.query(() => 'x'.repeat(3000)),
  later: t.procedure.query(async () => {
    await new Promise(setImmediate)
    return { later: Promise.resolve('later still') }
  }),
  failing: t.procedure.query(() => {
    throw new TRPCError({ code: 'NOT_FOUND' })
  }),
  add: t.procedure.input((value) => value).mutation(({ input }) => ({ added: input })),
  cookies: t.procedure.query(({ ctx: { req, res } }) => {
    const reply = res as unknown as { setCookie?(name: string, value: string): void }
    reply.setCookie?.('seen', '1')
    return (req as unknown as { cookies?: object }).cookies ?? null
  }),
  user: t.procedure.query(async ({ ctx: { req } }) => {
    const verifying = req as unknown as { jwtVerify?(): Promise<unknown> }
    return verifying.jwtVerify?.() ?? null
  }),
  requestContext: t.procedure.query(async ({ ctx: { req } }) => {
    await new Promise(setImmediate)
    return (req as unknown as { requestContext?: { get(key: string): unknown } }).requestContext?.get('user') ?? null
  }),
  events: t.procedure.subscription(async function* () {
    yield 1
    await new Promise(setImmediate)
    yield 2
  }),
  upload: t.procedure
    .input((value) => value as FormData)
    .mutation(({ input }) => (input instanceof FormData ? [...input.keys()] : 'no form')),
})

const NAMED = {
  '@fastify/compress': (app) => app.register(compress, { threshold: 1000 }),
  '@fastify/etag': (app) => app.register(etag),
  '@fastify/cors': (app) => app.register(cors, { origin: ['https://example.com'], credentials: true }),
  '@fastify/helmet': (app) => app.register(helmet),
  '@fastify/cookie': (app) => app.register(cookie, { secret: 'a secret of this test' }),
  '@fastify/rate-limit': (app) => app.register(rateLimit, { max: 5, timeWindow: 3_600_000 }),
  '@fastify/jwt': (app) => app.register(jwt, { secret: 'a secret of this test' }),
  '@fastify/multipart': (app) => app.register(multipart),
  '@fastify/request-context': async (app) => {
    await app.register(fastifyRequestContext)
    app.addHook('onRequest', async (request) => {
      const store = request as unknown as { requestContext: { set(key: string, value: unknown): void } }
      store.requestContext.set('user', request.headers['x-user'] ?? 'nobody')
    })
  },
  '@fastify/under-pressure': (app) =>
    app.register(underPressure, { maxHeapUsedBytes: 1, retryAfter: 50, sampleInterval: 5 }),
} satisfies Record<string, (app: FastifyInstance) => PromiseLike<unknown>>
type Name = keyof typeof NAMED

/** Of `{ "id": 7 }`, with the secret above. */
async function token(): Promise<string> {
  const app = Fastify()
  await app.register(jwt, { secret: 'a secret of this test' })
  return app.jwt.sign({ id: 7, iat: 1 })
}

const STREAM = { 'trpc-accept': 'application/jsonl' }
const ORIGIN = { origin: 'https://example.com' }
const form = '--b\r\ncontent-disposition: form-data; name="note"\r\n\r\nhello\r\n--b--\r\n'

const REQUESTS: Record<string, InjectOptions> = {
  query: { url: '/trpc/hello' },
  'long query': { url: '/trpc/long' },
  'long query, gzip': { url: '/trpc/long', headers: { 'accept-encoding': 'gzip' } },
  'short query, br': { url: '/trpc/hello', headers: { 'accept-encoding': 'br' } },
  error: { url: '/trpc/failing', headers: ORIGIN },
  'unknown procedure': { url: '/trpc/unknown', headers: ORIGIN },
  mutation: { method: 'POST', url: '/trpc/add', headers: ORIGIN, payload: { a: 1 } },
  'invalid JSON': { method: 'POST', url: '/trpc/add', headers: { 'content-type': 'application/json' }, payload: '{' },
  batch: { url: '/trpc/hello,later,failing?batch=1', headers: ORIGIN },
  'streamed batch': { url: '/trpc/hello,later,failing?batch=1', headers: STREAM },
  'streamed batch, gzip': { url: '/trpc/hello,long?batch=1', headers: { ...STREAM, 'accept-encoding': 'gzip' } },
  subscription: { url: '/trpc/events' },
  'subscription, gzip': { url: '/trpc/events', headers: { 'accept-encoding': 'gzip' } },
  preflight: { method: 'OPTIONS', url: '/trpc/add', headers: { ...ORIGIN, 'access-control-request-method': 'POST' } },
  'foreign origin': { url: '/trpc/hello', headers: { origin: 'https://other.example' } },
  cookies: { url: '/trpc/cookies', headers: { cookie: 'a=1; b=2' } },
  'invalid token': { url: '/trpc/user', headers: { authorization: 'Bearer x.y.z' } },
  'valid token': { url: '/trpc/user' },
  context: { url: '/trpc/requestContext', headers: { 'x-user': 'ada' } },
  upload: {
    method: 'POST',
    url: '/trpc/upload',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    payload: form,
  },
}

/**
 * Differences by plugin and part of the response. Only the length is never compared: here it is known, see
 * docs/differences.md.
 */
const DIFFERENCES: Partial<Record<Name, readonly string[]>> = {
  '@fastify/etag': ['etag'],
  '@fastify/compress': ['content-encoding', 'vary'],
}

/** What each plugin does to a response of the router. */
const EFFECTS: Record<Name, [request: keyof typeof REQUESTS, effect: object]> = {
  '@fastify/compress': ['long query, gzip', { headers: { 'content-encoding': 'gzip' } }],
  '@fastify/etag': ['query', { headers: { etag: expect.any(String) as string } }],
  '@fastify/cors': ['mutation', { headers: { 'access-control-allow-origin': 'https://example.com' } }],
  '@fastify/helmet': ['query', { headers: { 'x-content-type-options': 'nosniff' } }],
  '@fastify/cookie': [
    'cookies',
    { headers: { 'set-cookie': 'seen=1; SameSite=Lax' }, body: '{"result":{"data":{"a":"1","b":"2"}}}' },
  ],
  '@fastify/rate-limit': ['query', { statusCode: 429, headers: { 'retry-after': '3600' } }],
  '@fastify/jwt': ['valid token', { body: '{"result":{"data":{"id":7,"iat":1}}}' }],
  '@fastify/multipart': ['upload', { body: '{"result":{"data":["note"]}}' }],
  '@fastify/request-context': ['context', { body: '{"result":{"data":"ada"}}' }],
  '@fastify/under-pressure': ['query', { statusCode: 503, headers: { 'retry-after': '50' } }],
}

const IGNORED = ['keep-alive', 'content-length', 'transfer-encoding', 'date', 'connection']

type Answer = Pick<LightMyRequestResponse, 'statusCode' | 'headers' | 'rawPayload' | 'body'>

/** Sends a request. tRPC reads uploads only from sockets. */
async function send(app: FastifyInstance, request: InjectOptions): Promise<Answer> {
  if (request.url !== '/trpc/upload') return app.inject(request)
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  const { headers, payload } = request
  const response = await fetch(`http://127.0.0.1:${port}/trpc/upload`, {
    method: 'POST',
    headers: { ...(headers as Record<string, string>), 'accept-encoding': 'identity' },
    body: payload as string,
  })
  const rawPayload = Buffer.from(await response.arrayBuffer())
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    rawPayload,
    body: rawPayload.toString(),
  }
}

/** The body without its encoding. A streamed batch as the results that its lines have. */
function bodyOf({ headers, rawPayload }: Answer): string {
  const encoding = headers['content-encoding']
  const decoded =
    encoding === 'gzip' ? gunzipSync(rawPayload) : encoding === 'br' ? brotliDecompressSync(rawPayload) : rawPayload
  const text = decoded.toString()
  const values = text.match(/"world"|"later still"|NOT_FOUND|x{3000}/g) ?? []
  return headers['content-type'] === 'application/json' && text.endsWith('\n') ? values.toSorted().join(',') : text
}

/** Parts of two responses that differ. */
function differing(official: Answer, ours: Answer): string[] {
  const names = new Set([...Object.keys(official.headers), ...Object.keys(ours.headers)])
  const headers = [...names].filter(
    (name) => !IGNORED.includes(name) && JSON.stringify(official.headers[name]) !== JSON.stringify(ours.headers[name]),
  )
  const others = [official.statusCode !== ours.statusCode && 'status', bodyOf(official) !== bodyOf(ours) && 'body']
  return [...headers, ...others].filter((part) => part !== false)
}

describe.each(Object.keys(NAMED) as Name[])('%s', (name) => {
  let official: FastifyInstance
  let ours: FastifyInstance
  const found = new Set<string>()

  beforeAll(async () => {
    const serve = async (plugin: typeof trpcPlugin): Promise<FastifyInstance> => {
      const app = Fastify(routing({ maxParamLength: 1000 }))
      await NAMED[name](app)
      const options = {
        prefix: '/trpc',
        trpcOptions: { router, createContext: (opts: CreateFastifyContextOptions) => opts },
      }
      await app.register(plugin<typeof router>, options)
      return app
    }
    official = await serve(fastifyTRPCPlugin as unknown as typeof trpcPlugin)
    ours = await serve(trpcPlugin)
    if (name !== '@fastify/under-pressure') return
    // It takes samples of the process.
    for (const app of [official, ours]) {
      await vi.waitUntil(async () => (await app.inject('/trpc/hello')).statusCode === 503, { timeout: 15_000 })
    }
  })
  afterAll(() => Promise.all([official.close(), ours.close()]))

  const signed = async (title: string): Promise<InjectOptions> => {
    const request = REQUESTS[title]!
    return title === 'valid token' ? { ...request, headers: { authorization: `Bearer ${await token()}` } } : request
  }

  it.each(Object.keys(REQUESTS))('has the response of the official adapter: %s', async (title) => {
    const sent = await signed(title)
    const parts = differing(await send(official, sent), await send(ours, sent))
    for (const part of parts) found.add(part)
    expect(parts.filter((part) => !DIFFERENCES[name]?.includes(part))).toEqual([])
  })

  it('works', async () => {
    const [request, effect] = EFFECTS[name]
    expect(await send(ours, await signed(request))).toMatchObject(effect)
  })

  it('differs in what the documentation says, and nothing else', () => {
    expect([...found].toSorted()).toEqual([...(DIFFERENCES[name] ?? [])].toSorted())
    const page = readFileSync(new URL('../../docs/fastify-plugins.md', import.meta.url), 'utf8')
    const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\``))
    const [, , parts] = row!.split('|').map((cell) => cell.trim())
    const documented = parts === 'no difference' ? [] : parts!.replaceAll('`', '').split(', ')
    expect(documented.toSorted()).toEqual([...found].toSorted())
  })
})

it('the documentation has a row for each plugin, and no other', () => {
  const page = readFileSync(new URL('../../docs/fastify-plugins.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(@fastify\/[\w-]+)`/gm)].map(([, plugin]) => plugin)
  expect(rows).toEqual(Object.keys(NAMED))
})
