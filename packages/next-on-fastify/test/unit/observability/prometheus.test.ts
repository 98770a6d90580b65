import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { nextPlugin } from 'next-on-fastify'
import { Registry, register } from 'prom-client'
import { expect, it, onTestFinished } from 'vitest'
import type { Build } from '../../../src/next/build/cacheable-build.ts'
import { ResponseCache } from '../../../src/response-cache/response-cache.ts'
import { cacheLimits } from '../../helpers/cache-limits.ts'
import { observedHandler } from '../../../src/next/page-cache/observed-cache-handler.ts'
import { prometheusObserver } from '../../../src/observability/prometheus.ts'
import { standInApp } from '../../helpers/stand-in.ts'

/** The lines of a metric, without its help. */
const linesOf = async (registry: Registry, name: string): Promise<string[]> =>
  (await registry.metrics()).split('\n').filter((line) => new RegExp(`^${name}(_count|_bucket)?\\{`).test(line))

it('measures durations of responses in seconds, by app and status class', async () => {
  const registry = new Registry()
  const observers = [prometheusObserver({ registry, buckets: [0.5, 30] })]
  const app = Fastify()
  const dir = standInApp()
  await app.register(nextPlugin, { dir, prefix: '/shop', observers })
  await app.register(nextPlugin, { dir, observers })
  for (const url of ['/secret/1', '/2', '/throws', '/shop', '/shop/token?q=token']) await app.inject(url)
  const ofPages = `prefix="",status="2xx"`
  const durations = await linesOf(registry, 'next_response_duration_seconds')
  expect(durations).toEqual(
    expect.arrayContaining([
      `next_response_duration_seconds_bucket{le="30",${ofPages}} 2`,
      `next_response_duration_seconds_bucket{le="+Inf",${ofPages}} 2`,
      `next_response_duration_seconds_count{${ofPages}} 2`,
      `next_response_duration_seconds_count{prefix="",status="5xx"} 1`,
      `next_response_duration_seconds_count{prefix="/shop",status="2xx"} 2`,
    ]),
  )
  // Whatever clients ask for: no value of theirs is a label.
  expect(await registry.metrics()).not.toMatch(/secret|token/)
})

it('counts aborted responses separately', async () => {
  const registry = new Registry()
  const observer = prometheusObserver({ registry })
  const next = { prefix: '', stats: () => ({ responseCache: undefined, routerBypass: undefined }) }
  const left = { method: 'GET', url: '/', duration: 1, aborted: true }
  for (const status of [200, undefined]) observer.requestServed?.(next, { ...left, status })
  expect(await linesOf(registry, 'next_response_duration_seconds_count')).toEqual([
    'next_response_duration_seconds_count{prefix="",status="aborted"} 2',
  ])
})

it('keeps counters of the response cache when the app closes, and drops its gauges', async () => {
  const Handler = observedHandler(
    class {
      async get(): Promise<object> {
        return { lastModified: Date.now(), cacheControl: { revalidate: 3600 }, value: { kind: 'APP_PAGE' } }
      }
      async set(): Promise<void> {}
      async revalidateTag(): Promise<void> {}
    },
  )
  const handler = new Handler({})
  const no = (): boolean => false
  const build = { isBot: no, isConditional: no, isProxied: no, isMade: no } as unknown as Build
  const memory = new ResponseCache(build, cacheLimits())
  const server = createServer((request, response) => {
    void memory.serve(
      async () => {
        await handler.get('/page', {})
        const isPage = request.url?.startsWith('/page') ?? false
        response.setHeader('x-nextjs-cache', 'HIT').writeHead(isPage ? 200 : 404)
        response.end('page')
      },
      request,
      response,
    )
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  server.listen(0)
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const registry = new Registry()
  const observer = prometheusObserver({ registry })
  const app = { prefix: '/shop', stats: () => ({ responseCache: memory.stats, routerBypass: undefined }) }
  observer.nextOpened?.(app)

  for (const path of ['/page', '/page', '/page', '/none', '/p%61ge']) await (await fetch(origin + path)).text()
  await (await fetch(`${origin}/page`, { method: 'POST' })).text()
  const shown = async (): Promise<string[]> => linesOf(registry, 'next_response_cache_\\w+')
  // Asked twice, it does not count twice.
  await shown()
  const lines = await shown()
  expect(lines).toEqual([
    'next_response_cache_hits_total{prefix="/shop"} 2',
    'next_response_cache_misses_total{prefix="/shop"} 2',
    'next_response_cache_bypasses_total{prefix="/shop",reason="url"} 1',
    'next_response_cache_bypasses_total{prefix="/shop",reason="method"} 1',
    'next_response_cache_stored_total{prefix="/shop"} 1',
    'next_response_cache_not_stored_total{prefix="/shop",reason="status"} 1',
    'next_response_cache_invalidated_total{prefix="/shop"} 0',
    'next_response_cache_entries{prefix="/shop"} 1',
    `next_response_cache_bytes{prefix="/shop"} ${memory.stats.bytes}`,
  ])
  expect(memory.stats.bytes).toBeGreaterThan(0)
  observer.nextClosed?.(app)
  memory.close()
  // The counters, without the two gauges.
  expect(await shown()).toEqual(lines.slice(0, 7))
})

it('takes the registry of prom-client when there is no other', async () => {
  onTestFinished(() => register.clear())
  const app = Fastify()
  await app.register(nextPlugin, { dir: standInApp(), observers: [prometheusObserver()] })
  await app.inject('/page')
  expect(await linesOf(register, 'next_response_duration_seconds_count')).toHaveLength(1)
})

it.each([
  ['an unknown option', { labels: [] }, 'Invalid option "labels": unknown. Known here: registry, buckets.'],
  ['no registry', { registry: {} }, 'Invalid option "registry": expected a registry of prom-client, got an object.'],
  [
    'no buckets',
    { buckets: [] },
    'Invalid option "buckets": expected an array of ascending numbers of seconds, got an empty array.',
  ],
  [
    'buckets that do not ascend',
    { buckets: [1, 1] },
    'Invalid option "buckets": expected an array of ascending numbers of seconds, got an array.',
  ],
  [
    'buckets that are no array',
    { buckets: 5 },
    'Invalid option "buckets": expected an array of ascending numbers of seconds, got 5.',
  ],
])('refuses %s', (_title, options, message) => {
  expect(() => prometheusObserver(options as never)).toThrow(
    expect.objectContaining({ code: 'NEXT_ON_FASTIFY_INVALID_OPTION', message }) as Error,
  )
})
