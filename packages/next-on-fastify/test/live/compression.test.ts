// One built app is served twice in this process, with this package's compression and with Next's: both share Next's cache.

import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliDecompressSync, createZstdDecompress, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { createNextOnFastify, type NextPluginOptions } from 'next-on-fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUILD_TIMEOUT, builtFixture } from '../helpers/built-fixture.ts'
import { type Answer, ask, type Question } from '../helpers/two-servers.ts'

const DECODERS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
}

const header = ({ head }: Answer, name: string): string | undefined =>
  head.find(([found]) => found.toLowerCase() === name)?.[1]

/** The decoded response, without the headers that encodings change, and without random keys of React. */
function decoded(answer: Answer): Answer {
  const encoding = header(answer, 'content-encoding')
  const bytes = Buffer.from(answer.body, 'latin1')
  const body = encoding !== undefined && bytes.length > 0 ? DECODERS[encoding]!(bytes) : bytes
  // React sends data in more or fewer parts.
  let data = ''
  const rest = body
    .toString('latin1')
    .replaceAll(/<script>self\.__next_f\.push\(\[1,"(.*?)"\]\)<\/script>/gs, (_, part) => {
      data += part
      return ''
    })
  return {
    status: answer.status,
    head: answer.head
      .filter(([name]) => !/^(?:content-encoding|content-length|transfer-encoding)$/i.test(name))
      .map(([name, value]) => [name, name === 'ETag' ? value.replace(/^W\//, '') : value] as const),
    body: (rest + data)
      .replaceAll(/(\\?",\\?")[\w-]{21}([a-z]?\\?")/g, '$1random$2')
      // The handler shows its request.
      .replace(/"accept-encoding":"[^"]*"/, '"accept-encoding":""'),
  }
}

let dir: string
let compressed: FastifyInstance
let caching: FastifyInstance
let plain: FastifyInstance
const served: FastifyInstance[] = []
const serve = async (options: NextPluginOptions): Promise<FastifyInstance> => {
  const app = await createNextOnFastify({ dir, dev: false, responseCache: false, ...options })
  await app.listen({ port: 0 })
  served.push(app)
  return app
}

beforeAll(async () => {
  process.env['NODE_ENV'] = 'production'
  dir = await builtFixture('newest', {}, 'direct')
  // The first one: a response cache must be there before Next makes its cache, and this compression before Next's.
  caching = await serve({ compression: true, responseCache: { proxied: 'unmatched' } })
  compressed = await serve({ compression: true, bypassRouter: 'all' })
  plain = await serve({})
}, BUILD_TIMEOUT)
afterAll(() => Promise.all(served.map((app) => app.close())))

const QUESTIONS: Readonly<Record<string, Question>> = {
  'a page that is rendered for each request': { path: '/ssr?a=1' },
  'a page that is rendered at build': { path: '/' },
  'a page of the Pages Router': { path: '/old/ssr' },
  'data of the Pages Router': { path: '/old/ssr', headers: { 'x-nextjs-data': '1' } },
  'a streamed page': { path: '/late' },
  'RSC data': { path: '/ssr', headers: { rsc: '1' } },
  'RSC data of a page that is rendered at build': { path: '/', headers: { rsc: '1' } },
  'a route handler that shows its request': { path: `/echo?${'a=1&'.repeat(500)}` },
  'a route handler with a large body': { path: '/handlers/large' },
  'a stream of events': { path: '/handlers/events' },
  'an API route': { path: '/api/users/7' },
  'a file': { path: '/hello.txt' },
  'an image': { path: '/pixels.png' },
  'an optimized image': { path: '/_next/image?url=%2Fpixels.png&w=64&q=75' },
  'a wrong image': { path: '/_next/image?url=%2Fhello.txt&w=64&q=75' },
  'a missing page': { path: '/none' },
  'a page that throws': { path: '/throws' },
  'a handler that throws': { path: '/handlers/throws' },
  'an unknown server action': { path: '/form', method: 'POST', headers: { 'next-action': 'none' }, body: '' },
  'a redirect': { path: '/old/ssr?go' },
  'middleware that responds': { path: '/guarded/page' },
  HEAD: { path: '/ssr', method: 'HEAD' },
}

describe.each(Object.entries(QUESTIONS))('%s', (_name, { headers, ...question }) => {
  it('is the same by zstd, by brotli and by gzip as without compression', async () => {
    const unencoded = { ...question, headers: { ...headers, 'accept-encoding': 'identity' } }
    // Next optimizes an image once, and again when the one of an earlier run is stale.
    await expect.poll(async () => header(await ask(plain, unencoded), 'x-nextjs-cache')).not.toBe('STALE')
    const right = decoded(await ask(plain, unencoded))
    for (const encoding of ['zstd', 'br', 'gzip']) {
      const accepts = { ...headers, 'accept-encoding': `identity;q=0.1, ${encoding}` }
      // The second time without the router, where that is possible.
      for (let turn = 0; turn < 2; turn++) {
        const found = await ask(compressed, { ...question, headers: accepts })
        expect({ encoding, turn, ...decoded(found) }).toEqual({ encoding, turn, ...right })
        expect([undefined, encoding]).toContain(header(found, 'content-encoding'))
      }
    }
  })
})

it('serves a server action its compressed response', async () => {
  const { body } = await ask(plain, { path: '/form' })
  const [, action] = /name="(\$ACTION_ID_\w+)"/.exec(body)!
  const type = 'multipart/form-data; boundary=b'
  const form = `--b\r\ncontent-disposition: form-data; name="${action}"\r\n\r\n\r\n--b\r\ncontent-disposition: form-data; name="name"\r\n\r\nyou\r\n--b--\r\n`
  const answer = await ask(compressed, {
    path: '/form',
    method: 'POST',
    headers: { 'content-type': type, 'accept-encoding': 'zstd' },
    body: form,
  })
  expect([answer.status, header(answer, 'content-encoding')]).toEqual([200, 'zstd'])
  expect(decoded(answer).body).toContain('you')
})

it.each([
  ['gzip, deflate, br, zstd', 'zstd'],
  ['gzip, deflate, br', 'br'],
  ['gzip;q=0.9, br;q=0.1, zstd;q=0', 'gzip'],
  ['br, identity;q=0', 'br'],
  ['*', 'zstd'],
  ['identity', undefined],
])('chooses for %s', async (accepted, encoding) => {
  const answer = await ask(compressed, { path: '/ssr', headers: { 'accept-encoding': accepted } })
  expect([header(answer, 'content-encoding'), header(answer, 'vary')?.includes('Accept-Encoding')]).toEqual([
    encoding,
    true,
  ])
})

it.each(['by the router', 'without the router'])(
  'delivers the shell of a page before its late part, %s',
  async (way) => {
    const app = way === 'by the router' ? caching : compressed
    const { port } = app.server.address() as AddressInfo
    const entrypoints = (): number => app.nextStats()?.routerBypass?.entrypoints ?? 0
    const before = entrypoints()
    for (let turn = 0; turn < 2; turn++) {
      const sent = request({ port, path: '/late', headers: { 'accept-encoding': 'zstd' }, agent: false }).end()
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      expect(response.headers['content-encoding']).toBe('zstd')
      const body = response.pipe(createZstdDecompress())
      const parts: string[] = []
      for await (const part of body) parts.push(String(part))
      const first = (text: string): number => parts.findIndex((part) => part.includes(text))
      expect(first('<p>soon</p>')).toBe(0)
      expect(first('<p>late</p>')).toBeGreaterThan(0)
    }
    // The first request of a path shows the route.
    expect(entrypoints() - before > 0).toBe(app === compressed)
  },
)

it('caches a response for each encoding, and replays its bytes', async () => {
  const hits = (): number => caching.nextStats()!.responseCache!.hits
  const right = decoded(await ask(plain, { path: '/' }))
  for (const encoding of ['zstd', 'br', 'gzip']) {
    const question = { path: '/', headers: { 'accept-encoding': `${encoding}, identity;q=0` } }
    const before = hits()
    const answers = [await ask(caching, question), await ask(caching, question)]
    expect(hits()).toBe(before + 1)
    expect(answers[1]).toEqual(answers[0])
    expect(header(answers[1]!, 'content-encoding')).toBe(encoding)
    expect(decoded(answers[1]!)).toEqual(right)
    const etag = header(answers[1]!, 'etag')!
    expect(etag).toMatch(/^W\/"/)
    const condition = { ...question.headers, 'if-none-match': etag }
    for (let turn = 0; turn < 2; turn++) {
      expect(await ask(caching, { path: '/', headers: condition })).toMatchObject({ status: 304, body: '' })
    }
  }
})
