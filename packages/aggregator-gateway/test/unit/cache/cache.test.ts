// Answers that are kept for as long as they say, and for whom they say.

import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { cacheStores } from 'undici'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  type CacheOptions,
  type CacheStore,
  type CallOptions,
  type CreateAggregatorGatewayOptions,
  type GatewayStatus,
  KeyValueCacheStore,
  type UpstreamOptions,
} from '../../../src/index.ts'
import { gateway, nobody, upstream } from '../../helpers/servers.ts'

interface Asked {
  count: number
}

/** A logger of warnings, and the text that it has written. */
function warnings(): { logger: { level: string; stream: { write(line: string): void } }; text: () => string } {
  let text = ''
  return { logger: { level: 'warn', stream: { write: (line) => void (text += line) } }, text: () => text }
}

/** An upstream that counts what it is asked and says the count. */
const counting = (
  asked: Asked,
  headers: Record<string, string | string[]> | ((request: IncomingMessage) => Record<string, string | string[]>),
  status: number | (() => number) = 200,
): Promise<string> =>
  upstream((request, response) => {
    asked.count++
    // Node would send the date of the real clock, whatever `afterSeconds` says.
    response.sendDate = false
    const own = typeof headers === 'function' ? headers(request) : headers
    response.writeHead(typeof status === 'function' ? status() : status, { 'content-type': 'application/json', ...own })
    response.end(String(asked.count))
  })

const caching = (
  origin: string | string[],
  call: Partial<CallOptions> = {},
  cache: true | CacheOptions = true,
  options: Partial<UpstreamOptions> = {},
  fastify: CreateAggregatorGatewayOptions['fastify'] = {},
): Promise<FastifyInstance> =>
  gateway({
    upstreams: { it: { origin, cache, connectTimeout: 500, ...options } },
    fastify,
    endpoints: [
      { path: '/:id', timeout: 1000, calls: { one: { upstream: 'it', path: '/{params.id}', ...call } } },
      {
        path: '/:id',
        method: 'POST',
        timeout: 1000,
        calls: { one: { upstream: 'it', path: '/{params.id}', method: 'POST' } },
      },
      { path: '/raw/:id', timeout: 1000, passThrough: { upstream: 'it', path: '/{params.id}' } },
    ],
  })

/** Moves the clock that undici looks at; sockets and timers go on as they are. */
function afterSeconds(seconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 })
  onTestFinished(() => void vi.useRealTimers())
}

type Headers = Record<string, string>
const ask = async (app: FastifyInstance, headers: Headers = {}, url = '/a'): Promise<unknown> => {
  const { statusCode, json } = await app.inject({ url, headers })
  return statusCode === 200 ? json<{ one: unknown }>().one : statusCode
}
const twice = async (app: FastifyInstance, headers: Headers = {}): Promise<unknown[]> => [
  await ask(app, headers),
  await ask(app, headers),
]

describe('a response is cached', () => {
  it.each<[string, Headers]>([
    ['max-age', { 'cache-control': 'max-age=60' }],
    ['s-maxage', { 'cache-control': 's-maxage=60, max-age=0' }],
    ['expires', { expires: new Date(Date.now() + 60_000).toUTCString() }],
    ['max-age and a body in gzip', { 'cache-control': 'max-age=60', 'content-encoding': 'gzip' }],
  ])('for %s', async (_, headers) => {
    const asked = { count: 0 }
    const origin = await upstream((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers })
      const text = JSON.stringify([++asked.count, request.url])
      response.end(headers['content-encoding'] ? gzipSync(text) : text)
    })
    const app = await caching(origin)
    expect(await twice(app)).toEqual([
      [1, '/a'],
      [1, '/a'],
    ])
    expect(await ask(app, {}, '/b')).toEqual([2, '/b'])
    expect(await ask(app)).toEqual([1, '/a'])
    expect(asked.count).toBe(2)
  })

  it('if it is a cacheable 404', async () => {
    const asked = { count: 0 }
    const origin = await counting(asked, { 'cache-control': 'max-age=60' }, 404)
    expect(await twice(await caching(origin))).toEqual([502, 502])
    expect(asked.count).toBe(1)
  })

  it('until it is stale', async () => {
    const asked = { count: 0 }
    const app = await caching(await counting(asked, { 'cache-control': 'max-age=3' }))
    expect(await twice(app)).toEqual([1, 1])
    afterSeconds(2)
    expect(await ask(app)).toBe(1)
    afterSeconds(2)
    expect(await twice(app)).toEqual([2, 2])
    expect(asked.count).toBe(2)
  })

  it('for all origins of the upstream', async () => {
    const asked = { count: 0 }
    const headers = { 'cache-control': 'max-age=60' }
    const app = await caching([await counting(asked, headers), await counting(asked, headers)])
    for (let count = 0; count < 6; count++) expect(await ask(app)).toBe(1)
  })

  it('while no origin works', async () => {
    const asked = { count: 0 }
    let status = 200
    const origin = await counting(
      asked,
      (request) => (request.url === '/a' ? { 'cache-control': 'max-age=60' } : {}),
      () => status,
    )
    const app = await caching(origin, {}, true, { circuitBreaker: { window: 2, resetTimeout: 60_000 } })
    expect(await ask(app)).toBe(1)
    status = 500
    for (let count = 0; count < 3; count++) expect(await ask(app, {}, '/b')).toBe(502)
    expect((await app.inject('/b')).json<{ code: string }>().code).toBe('AGGREGATOR_GATEWAY_CIRCUIT_OPEN')
    expect(await ask(app)).toBe(1)
  })

  it('and served while the queue is full', async () => {
    const asked = { count: 0 }
    const hanging: ServerResponse[] = []
    const origin = await upstream((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=60' })
      if (request.url === '/a') response.end(String(++asked.count))
      else hanging.push(response)
    })
    const app = await caching(origin, {}, true, { maxConnections: 1, maxQueue: 0 })
    await ask(app)
    const waiting = ask(app, {}, '/b')
    await expect.poll(() => hanging).toHaveLength(1)
    expect([await ask(app), await ask(app, {}, '/c')]).toEqual([1, 503])
    hanging[0]!.end('2')
    expect(await waiting).toBe(2)
  })

  it('for pass-through, with its age', async () => {
    const asked = { count: 0 }
    const origin = await upstream((_, response) => {
      asked.count++
      response.writeHead(200, { 'content-type': 'a/b', 'cache-control': 'max-age=60', 'x-internal': '1' })
      response.end(Buffer.alloc(500_000, 'x'))
    })
    const app = await caching(origin)
    const first = await app.inject('/raw/a')
    const second = await app.inject('/raw/a')
    expect([first.rawPayload.equals(second.rawPayload), second.rawPayload.length, asked.count]).toEqual([
      true,
      500_000,
      1,
    ])
    // In seconds.
    const age = expect.stringMatching(/^\d$/) as string
    expect(second.headers).toMatchObject({ 'content-type': 'a/b', 'cache-control': 'max-age=60', age })
    expect(second.headers).not.toHaveProperty('x-internal')
    const { statusCode, headers } = await app.inject({ method: 'HEAD', url: '/raw/a' })
    expect([statusCode, headers['content-type'], asked.count]).toEqual([200, 'a/b', 2])
  })
})

describe('a response is not cached', () => {
  it.each<[string, Record<string, string | string[]>]>([
    ['without a word on it', {}],
    ['that is private', { 'cache-control': 'private, max-age=60' }],
    ['that is not to be stored', { 'cache-control': 'no-store, max-age=60' }],
    ['that sets a cookie', { 'cache-control': 'max-age=60', 'set-cookie': 'a=1' }],
    ['that varies by everything', { 'cache-control': 'max-age=60', vary: '*' }],
    ['that is as old as it may be', { 'cache-control': 'max-age=60', age: '60' }],
  ])('%s', async (_, headers) => {
    expect(await twice(await caching(await counting({ count: 0 }, headers)))).toEqual([1, 2])
  })

  it('if its request had `authorization`, unless it is public', async () => {
    const call = { forwardHeaders: ['authorization'] }
    const mine = await caching(await counting({ count: 0 }, { 'cache-control': 'max-age=60' }), call)
    expect(await twice(mine, { authorization: 'Bearer a' })).toEqual([1, 2])
    const ours = await caching(await counting({ count: 0 }, { 'cache-control': 'public, max-age=60' }), call)
    expect(await twice(ours, { authorization: 'Bearer a' })).toEqual([1, 1])
    expect(await ask(ours, { authorization: 'Bearer b' })).toBe(2)
  })

  it.each([400, 401, 403, 429, 500, 503])('with status %i and any headers', async (status) => {
    const asked = { count: 0 }
    const app = await caching(await counting(asked, { 'cache-control': 'public, max-age=60' }, status))
    await twice(app)
    expect(asked.count).toBe(2)
  })

  it.each<[string, string, string]>([
    ['is no JSON', '{', 'application/json'],
    ['is not declared as JSON', '{}', 'text/html'],
  ])('that %s', async (_, text, type) => {
    let isGood = false
    const origin = await upstream((_request, response) => {
      response.writeHead(200, { 'content-type': isGood ? 'application/json' : type, 'cache-control': 'max-age=60' })
      response.end(isGood ? '1' : text)
    })
    const app = await caching(origin)
    expect(await ask(app)).toBe(502)
    isGood = true
    expect(await twice(app)).toEqual([1, 1])
  })

  it('if it broke off', async () => {
    let asked = 0
    const origin = await upstream((request, response) => {
      asked++
      response.writeHead(200, {
        'content-type': 'application/json',
        'cache-control': 'max-age=60',
        'content-length': 3,
      })
      response.write('12')
      if (asked === 1) setTimeout(() => request.socket.resetAndDestroy(), 20)
      else response.end('3')
    })
    const app = await caching(origin)
    expect([await ask(app), ...(await twice(app)), asked]).toEqual([502, 123, 123, 2])
  })

  it.each(['calls', 'pass-through'])('if its client left while it was transferred, by %s', async (kind) => {
    let asked = 0
    let finish: () => void = () => {}
    const origin = await upstream((_, response) => {
      asked++
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=60' })
      response.write('12')
      if (asked === 1) finish = () => void response.end('3')
      else response.end('3')
    })
    const app = await caching(origin)
    await app.listen({ port: 0, host: '127.0.0.1' })
    const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    client.write(`GET ${kind === 'calls' ? '' : '/raw'}/a HTTP/1.1\r\nhost: a\r\n\r\n`)
    await once(client, 'ready')
    await expect.poll(() => asked).toBe(1)
    await sleep(50)
    client.destroy()
    await sleep(50)
    finish()
    expect([await ask(app), await ask(app)]).toEqual([123, 123])
    expect(asked).toBe(2)
  })

  it('if it is larger than `maxResponseBytes`', async () => {
    const asked = { count: 0 }
    const origin = await upstream((_, response) => {
      asked.count++
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=60' })
      response.end(`"${'x'.repeat(20_000)}"`)
    })
    const app = await caching(origin, {}, true, { maxResponseBytes: 10_000 })
    expect([...(await twice(app)), asked.count]).toEqual([502, 502, 2])
  })

  it('beyond the limits of memory', async () => {
    const asked = { count: 0 }
    const origin = await upstream((request, response) => {
      asked.count++
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=60' })
      response.end(`"${'x'.repeat(request.url === '/big' ? 6000 : 900)}"`)
    })
    const app = await caching(origin, {}, { maxEntryBytes: 5000, maxBytes: 10_000, maxEntries: 8 })
    for (let count = 0; count < 2; count++) await ask(app, {}, '/big')
    expect(asked.count).toBe(2)
    for (let id = 0; id < 8; id++) await ask(app, {}, `/${id}`)
    asked.count = 0
    for (let id = 0; id < 8; id++) await ask(app, {}, `/${id}`)
    expect(asked.count).toBe(0)
    await ask(app, {}, '/8')
    asked.count = 0
    // Newest first: what is asked for again drops what was kept.
    for (let id = 8; id > 4; id--) await ask(app, {}, `/${id}`)
    expect(asked.count).toBe(0)
    await ask(app, {}, '/0')
    expect(asked.count).toBe(1)
  })
})

it.each<[Record<string, string>, number[]]>([
  [{ 'last-modified': 'Wed, 21 Oct 2015 07:28:00 GMT' }, [1, 2]],
  [{ 'last-modified': 'Wed, 21 Oct 2015 07:28:00 GMT', 'cache-control': 'public' }, [1, 2]],
  [{ 'last-modified': 'Wed, 21 Oct 2015 07:28:00 GMT', 'cache-control': 'max-age=60' }, [1, 1]],
  [{ expires: new Date(Date.now() + 60_000).toUTCString() }, [1, 1]],
])('caches a response only if it says how long: %o', async (headers, counts) => {
  expect(await twice(await caching(await counting({ count: 0 }, headers)))).toEqual(counts)
})

describe('headers and path of a client', () => {
  it('do not change the responses of others, even without `vary`', async () => {
    const asked = { count: 0 }
    const app = await caching(await counting(asked, { 'cache-control': 'max-age=60' }), {
      forwardHeaders: ['x-tenant', 'cookie'],
    })
    expect(await twice(app, { 'x-tenant': 'evil' })).toEqual([1, 1])
    expect(await twice(app, { 'x-tenant': 'acme' })).toEqual([2, 2])
    expect(await twice(app, { 'x-tenant': 'acme', cookie: 'a=1' })).toEqual([3, 3])
    expect(await twice(app)).toEqual([4, 4])
    expect(await twice(app, { 'x-tenant': 'evil' })).toEqual([1, 1])
    // These do not reach the upstream, and make no difference.
    expect(await ask(app, { 'x-other': '1', 'cache-control': 'no-cache', pragma: 'no-cache' })).toBe(4)
  })

  it('do not change the responses of other calls', async () => {
    const origin = await upstream((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=60' })
      response.end(JSON.stringify(request.headers['accept']))
    })
    const one = { upstream: 'it', path: '/a' }
    const app = await gateway({
      upstreams: { it: { origin, cache: true } },
      endpoints: [{ path: '/', calls: { one, two: { ...one, headers: { Accept: 'application/problem+json' } } } }],
    })
    for (const _ of [1, 2]) {
      expect((await app.inject('/')).json()).toEqual({ one: 'application/json', two: 'application/problem+json' })
    }
  })

  it('are part of the key, special characters included', async () => {
    const paths: string[] = []
    const memory = new cacheStores.MemoryCacheStore()
    const store: CacheStore = {
      get(key) {
        paths.push(key.path)
        return memory.get(key)
      },
      createWriteStream: (key, value) => memory.createWriteStream(key, value),
      delete: (key) => memory.delete(key),
    }
    const app = await caching(await counting({ count: 0 }, { 'cache-control': 'max-age=60' }), {}, { store })
    expect([await ask(app, {}, '/a'), await ask(app, {}, '/*'), await ask(app, {}, '/%20')]).toEqual([1, 2, 3])
    expect(await ask(app, {}, '/*')).toBe(2)
    expect(paths).toEqual(['/a', '/ ', '/%20', '/ '])
  })
})

describe('a stale response', () => {
  it('is revalidated, and served again if unchanged', async () => {
    const seen: unknown[] = []
    const origin = await upstream((request, response) => {
      seen.push(request.headers['if-none-match'])
      response.setHeader('etag', '"1"').setHeader('cache-control', 'no-cache')
      if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end()
      else response.writeHead(200, { 'content-type': 'application/json' }).end('1')
    })
    const app = await caching(origin)
    expect(await twice(app)).toEqual([1, 1])
    expect(seen).toEqual([undefined, '"1"'])
  })

  it('is replaced if it has changed', async () => {
    let version = 1
    const origin = await upstream((request, response) => {
      const etag = `"${version}"`
      response.setHeader('etag', etag).setHeader('cache-control', 'no-cache')
      if (request.headers['if-none-match'] === etag) response.writeHead(304).end()
      else response.writeHead(200, { 'content-type': 'application/json' }).end(String(version))
    })
    const app = await caching(origin)
    expect(await twice(app)).toEqual([1, 1])
    version = 2
    expect(await twice(app)).toEqual([2, 2])
  })

  it('is served immediately and revalidated in the background with stale-while-revalidate', async () => {
    const asked = { count: 0 }
    const origin = await counting(asked, { 'cache-control': 'max-age=3, stale-while-revalidate=60' })
    const app = await caching(origin)
    await ask(app)
    afterSeconds(4)
    expect(await ask(app)).toBe(1)
    await expect.poll(() => asked.count).toBe(2)
    expect(await ask(app)).toBe(2)
  })

  it('is revalidated for at most the longest timeout of an endpoint', async () => {
    const hanging: Socket[] = []
    let isHanging = false
    const origin = await upstream((request, response) => {
      response.sendDate = false
      response.writeHead(200, {
        'content-type': 'application/json',
        'cache-control': 'max-age=3, stale-while-revalidate=60',
      })
      if (isHanging) hanging.push(request.socket)
      else response.end('1')
    })
    const app = await caching(origin)
    await ask(app)
    isHanging = true
    afterSeconds(4)
    expect(await ask(app)).toBe(1)
    await vi.waitFor(() => expect(hanging.map(({ destroyed }) => destroyed)).toEqual([true]), { timeout: 5000 })
  }, 15_000)

  it.each<[string, (response: ServerResponse) => void]>([
    ['an upstream that fails', (response) => void response.writeHead(503).end()],
    ['an upstream that resets', (response) => response.req.socket.resetAndDestroy()],
  ])('is given with stale-if-error for %s', async (_, fail) => {
    let isFailing = false
    const origin = await upstream((_request, response) => {
      if (isFailing) return fail(response)
      response.sendDate = false
      response
        .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=3, stale-if-error=60' })
        .end('1')
    })
    const app = await caching(origin, {}, true, { circuitBreaker: { window: 2, resetTimeout: 60_000 } })
    expect(await ask(app)).toBe(1)
    afterSeconds(4)
    isFailing = true
    // The circuit opens meanwhile.
    for (let count = 0; count < 5; count++) expect(await ask(app)).toBe(1)
  })
})

it('an unsafe method drops the cached response of its path', async () => {
  const asked = { count: 0 }
  const app = await caching(await counting(asked, { 'cache-control': 'max-age=60' }))
  await ask(app)
  await app.inject({ method: 'POST', url: '/a' })
  expect(await twice(app)).toEqual([3, 3])
})

it('simultaneous requests all get a response', async () => {
  const asked = { count: 0 }
  const app = await caching(await counting(asked, { 'cache-control': 'max-age=60' }))
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(app)))
  expect(answers.every((answer) => typeof answer === 'number')).toBe(true)
  const before = asked.count
  expect(answers).toContain(await ask(app))
  expect(asked.count).toBe(before)
})

it('failures have the same codes, and retries go to another origin', async () => {
  const headers = { 'cache-control': 'max-age=60' }
  const refused = await (await caching(await nobody())).inject('/a')
  expect([refused.statusCode, refused.json<{ message: string }>().message]).toEqual([
    502,
    'The call "one" to it did not respond',
  ])
  const asked = { count: 0 }
  const app = await caching([await nobody(), await counting(asked, headers)], {}, true, { circuitBreaker: false })
  for (let id = 0; id < 6; id++) expect(await ask(app, {}, `/${id}`)).toBe(id + 1)
})

it('a hanging upstream is a timeout, and its circuit opens', async () => {
  const open = new Set<unknown>()
  const origin = await upstream(({ socket }) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  const app = await caching(origin, { timeout: 50 }, true, { circuitBreaker: { window: 2, resetTimeout: 60_000 } })
  const codes: unknown[] = []
  for (let count = 0; count < 3; count++) codes.push((await app.inject('/a')).json<{ code: string }>().code)
  expect(codes).toEqual([
    'AGGREGATOR_GATEWAY_UPSTREAM_TIMEOUT',
    'AGGREGATOR_GATEWAY_UPSTREAM_TIMEOUT',
    'AGGREGATOR_GATEWAY_CIRCUIT_OPEN',
  ])
  await expect.poll(() => open.size).toBe(0)
})

it('calls are retried and hedged', async () => {
  let asked = 0
  const origin = await upstream((request, response) => {
    asked++
    if (request.url === '/late' && asked === 1) return
    response.writeHead(asked === 1 ? 503 : 200, { 'content-type': 'application/json' }).end(String(asked))
  })
  const app = await caching(origin, { retries: 1, hedge: 50 })
  expect(await ask(app)).toBe(2)
  asked = 0
  expect(await ask(app, {}, '/late')).toBe(2)
})

describe('a store', () => {
  const headers = { 'cache-control': 'max-age=60' }
  const memory = (): CacheStore => new cacheStores.MemoryCacheStore()

  it.each<[string, CacheStore]>([
    [
      'throws',
      {
        get() {
          throw new Error('down')
        },
        createWriteStream() {
          throw new Error('down')
        },
        delete() {
          throw new Error('down')
        },
      },
    ],
    [
      'rejects',
      {
        get: () => Promise.reject(new Error('down')),
        createWriteStream: () =>
          new Writable({
            write: (_chunk, _encoding, done) => done(new Error('down')),
          }),
        delete: () => Promise.reject(new Error('down')),
      },
    ],
    [
      'hangs',
      {
        get: () => new Promise(() => {}),
        createWriteStream: () => new Writable({ write() {} }),
        delete: () => new Promise(() => {}),
      },
    ],
  ])('that %s makes no request fail', async (_, store) => {
    const asked = { count: 0 }
    const app = await caching(await counting(asked, headers), {}, { store, storeTimeout: 20 })
    for (let count = 1; count <= 30; count++) expect(await ask(app)).toBe(count)
    await app.inject({ method: 'POST', url: '/a' })
  })

  it.each<[string, Partial<CacheStore>, RegExp]>([
    [
      'get',
      { get: () => Promise.reject(new Error('down')) },
      /^the cache store of upstream "it" failed to get a response: down$/,
    ],
    ['get', { get: () => new Promise(() => {}) }, /^.* failed to get a response: no reply within 20 ms$/],
    [
      'set',
      {
        createWriteStream: () =>
          new Writable({ write: (_, __, done) => done(), final: (done) => done(new Error('full')) }),
      },
      /^.* failed to set a response: full$/,
    ],
    ['delete', { delete: () => Promise.reject(new Error('down')) }, /^.* failed to delete a response: down$/],
  ])('that fails to %s is logged once', async (operation, failing, message) => {
    const { logger, text } = warnings()
    const store: CacheStore = { get: () => undefined, createWriteStream: () => undefined, delete() {}, ...failing }
    const app = await caching(await counting({ count: 0 }, headers), {}, { store, storeTimeout: 20 }, {}, { logger })
    for (let count = 1; count <= 3; count++) {
      expect(await ask(app)).toBe(2 * count - 1)
      await app.inject({ method: 'POST', url: '/a' })
    }
    const lines = text().split('\n').filter(Boolean)
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ level: 40, upstream: 'it', operation, msg: expect.stringMatching(message) as unknown }),
    ])
  })

  it('is not logged if the body of an upstream breaks', async () => {
    const { logger, text } = warnings()
    const origin = await upstream((_, response) => {
      response.writeHead(200, { ...headers, 'content-length': 9 }).write('1')
      setTimeout(() => response.destroy(), 20)
    })
    const app = await caching(origin, {}, { store: memory() }, {}, { logger })
    expect(await ask(app)).toBe(502)
    expect(text()).not.toContain('cache store')
  })

  it('that hangs is skipped after some lookups', async () => {
    let gets = 0
    const store = {
      ...memory(),
      createWriteStream: () => undefined,
      delete() {},
      get: () => (gets++, new Promise<never>(() => {})),
    }
    const app = await caching(await counting({ count: 0 }, headers), {}, { store, storeTimeout: 10 })
    for (let count = 0; count < 100; count++) await ask(app)
    expect(gets).toBeLessThan(30)
  })

  it.each(['calls', 'passThrough'])('that responds after the deadline causes no request of %s', async (kind) => {
    const asked = { count: 0 }
    const lookups: (() => void)[] = []
    const store: CacheStore = {
      get: () => new Promise((resolve) => lookups.push(() => resolve(undefined))),
      createWriteStream: () => undefined,
      delete() {},
    }
    const app = await gateway({
      upstreams: { it: { origin: await counting(asked, headers), cache: { store, storeTimeout: 60_000 } } },
      endpoints: [
        { path: '/calls', timeout: 30, calls: { one: { upstream: 'it', path: '/a' } } },
        { path: '/passThrough', timeout: 30, passThrough: { upstream: 'it', path: '/a' } },
      ],
      status: true,
    })
    expect((await app.inject(`/${kind}`)).statusCode).toBe(504)
    for (const respond of lookups) respond()
    // Time for a request that must not be sent.
    await sleep(100)
    const { upstreams } = (await app.inject('/__gateway')).json<GatewayStatus>()
    expect([asked.count, upstreams['it']]).toEqual([0, [expect.objectContaining({ pending: 0, streams: 0 })]])
  })

  it('with a response above `maxResponseBytes` is a miss', async () => {
    const asked = { count: 0 }
    const origin = await upstream((_, response) => {
      asked.count++
      response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(`"${'x'.repeat(5000)}"`)
    })
    const store = memory()
    const large = await caching(origin, {}, { store })
    const small = await caching(origin, {}, { store }, { maxResponseBytes: 1000 })
    await ask(large)
    expect([await ask(small), asked.count]).toEqual([502, 2])
  })
})

describe('a store of keys and values', () => {
  class Values extends Map<string, unknown> {
    readonly times: number[] = []
  }
  const storeOf = (values: Values): KeyValueCacheStore =>
    new KeyValueCacheStore({
      get: async (key) => values.get(key),
      set: async (key, value, milliseconds) => {
        values.times.push(milliseconds)
        values.set(key, value)
      },
      delete: async (key) => values.delete(key),
    })

  it('is shared by gateways', async () => {
    const values = new Values()
    const origin = await counting({ count: 0 }, { 'cache-control': 'max-age=60' })
    const call = { forwardHeaders: ['x-tenant'] }
    const apps = [
      await caching(origin, call, { store: storeOf(values) }),
      await caching(origin, call, { store: storeOf(values) }),
    ]
    expect(await ask(apps[0]!)).toBe(1)
    await expect.poll(() => values.size).toBe(2)
    expect(await ask(apps[1]!)).toBe(1)
    expect(await ask(apps[1]!, { 'x-tenant': 'acme' })).toBe(2)
    await expect.poll(() => values.size).toBe(3)
    expect([await ask(apps[0]!, { 'x-tenant': 'acme' }), await ask(apps[0]!)]).toEqual([2, 1])
    // Twice as long as it is fresh, to be asked about then.
    for (const time of values.times) expect(time).toBeGreaterThan(100_000)
    for (const time of values.times) expect(time).toBeLessThanOrEqual(120_000)
    await apps[0]!.inject({ method: 'POST', url: '/a' })
    await expect.poll(() => ask(apps[1]!)).toBeGreaterThan(3)
  })

  it('caches no body larger than `maxEntryBytes`', async () => {
    const values = new Values()
    const origin = await upstream((request, response) => {
      response.writeHead(200, { 'cache-control': 'max-age=60' })
      response.end('a'.repeat(request.url === '/large' ? 2_000_000 : 1000))
    })
    const app = await gateway({
      upstreams: { it: { origin, cache: { store: storeOf(values) } } },
      endpoints: [{ path: '/:id', passThrough: { upstream: 'it', path: '/{params.id}' } }],
    })
    expect((await app.inject('/large')).body).toHaveLength(2_000_000)
    expect((await app.inject('/small')).body).toHaveLength(1000)
    await expect.poll(() => values.size).toBe(2)
    expect([...values.values()].every((value) => String(value).length < 2000)).toBe(true)
  })

  it('caches binary bodies', async () => {
    const values = new Values()
    const bytes = Buffer.from([0, 255, 254, 13, 10])
    let asked = 0
    const origin = await upstream((_, response) => {
      asked++
      response.writeHead(200, { 'content-type': 'a/b', 'cache-control': 'max-age=60', etag: '"1"' }).end(bytes)
    })
    const app = await caching(origin, {}, { store: storeOf(values) })
    await app.inject('/raw/a')
    await expect.poll(() => values.size).toBe(2)
    const { rawPayload, headers } = await app.inject('/raw/a')
    expect([rawPayload, headers['etag'], asked]).toEqual([bytes, '"1"', 1])
  })

  it('finds no response by headers that are not in its index', async () => {
    const values = new Values()
    const origin = await counting({ count: 0 }, (request) => ({
      'cache-control': 'max-age=60',
      ...(request.headers['x-tenant'] ? { vary: 'x-language' } : {}),
    }))
    const store = storeOf(values)
    const app = await caching(origin, { forwardHeaders: ['x-tenant'] }, { store })
    await ask(app)
    await expect.poll(() => values.size).toBe(2)
    await ask(app, { 'x-tenant': 'a' })
    // The index of before is of no use: a new answer of each is made.
    await expect.poll(() => values.size).toBe(3)
    expect([await ask(app), await ask(app, { 'x-tenant': 'a' })]).toEqual([3, 2])
  })

  it.each([
    ['an index', 0],
    ['an answer', 1],
  ])('%s that is damaged is none', async (_, position) => {
    const values = new Values()
    const app = await caching(
      await counting({ count: 0 }, { 'cache-control': 'max-age=60' }),
      {},
      { store: storeOf(values) },
    )
    await ask(app)
    await expect.poll(() => values.size).toBe(2)
    const key = [...values.keys()].find((one) => String(values.get(one)).includes('"names"') === (position === 0))!
    values.set(key, '{')
    expect(await ask(app)).toBe(2)
    values.set(key, 7)
    expect(await ask(app)).toBe(3)
    await expect.poll(() => twice(app)).toEqual([3, 3])
  })
})
