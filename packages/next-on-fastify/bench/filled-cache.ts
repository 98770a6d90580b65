import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { Build } from '../src/next/build/cacheable-build.ts'
import { ResponseCache } from '../src/response-cache/response-cache.ts'
import { observedHandler } from '../src/next/page-cache/observed-cache-handler.ts'

/** A build without middleware, whose paths are all pages. */
const build: Build = {
  distDir: '/app/.next',
  dir: '/app',
  isConditional: () => false,
  coveringRules: [],
  isBot: () => false,
  isProxied: () => false,
  isAlwaysProxied: () => false,
  isMade: () => true,
  lifetimeOf: () => undefined,
  fileOf: () => undefined,
  staticPage: () => undefined,
  etagOf: () => '""',
}

/** The cache of Next, in which every page has a tag of a hundred. */
const Handler = observedHandler(
  class {
    async get(key: string): Promise<object> {
      const headers = { 'x-next-cache-tags': `tag-${Number(key.replace(/\D+/, '')) % 100}` }
      return { lastModified: Date.now(), cacheControl: { revalidate: 3600 }, value: { kind: 'APP_PAGE', headers } }
    }
    async set(): Promise<void> {}
    async revalidateTag(): Promise<void> {}
  },
)
const handler = new Handler({})

/** Headers of a page as Next sends them. */
export const HEAD: readonly string[] = [
  ...['vary', 'rsc, next-router-state-tree, next-router-prefetch, next-router-segment-prefetch'],
  ...[
    'x-nextjs-cache',
    'HIT',
    'x-nextjs-prerender',
    '1',
    'cache-control',
    's-maxage=3600, stale-while-revalidate=31532400',
  ],
  ...['etag', '"1a2b3c4d5e6f"', 'content-type', 'text/html; charset=utf-8', 'content-length', '5000'],
]
export const BODY: Buffer = Buffer.alloc(5000, 'a')

/** A request as browsers send it. */
export function requestOf(path: string): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  request.method = 'GET'
  request.url = path
  request.httpVersionMajor = 1
  request.httpVersionMinor = 1
  request.headers = {
    host: 'shop.example.com',
    'user-agent':
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
    accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'accept-language': 'en-US,en;q=0.5',
    'accept-encoding': 'gzip, deflate, br, zstd',
    cookie: 'session=4f9c2d; theme=dark',
  }
  return request
}

/** A cache with so many pages, `/page-0` and so on. */
export async function filledCache(entries: number): Promise<ResponseCache> {
  const cache = new ResponseCache(build, {
    maxEntries: entries,
    maxBytes: 2 ** 30,
    maxEntryBytes: 2 ** 20,
    brotli: false,
    cacheStatus: false,
  })
  for (let page = 0; page < entries; page++) {
    const request = requestOf(`/page-${page}`)
    const response = new ServerResponse(request)
    const sink = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() })
    response.assignSocket(sink as Socket)
    const closed = new Promise<void>((resolve) => {
      response.once('finish', () => {
        response.emit('close')
        resolve()
      })
    })
    await cache.serve(
      async () => {
        await handler.get(`/page-${page}`, {})
        for (let index = 0; index < HEAD.length; index += 2) response.setHeader(HEAD[index]!, HEAD[index + 1]!)
        response.writeHead(200).end(BODY)
      },
      request,
      response,
    )
    await closed
  }
  if (cache.stats.entries !== entries) throw new Error(`Not all is cached: ${JSON.stringify(cache.stats)}`)
  return cache
}
