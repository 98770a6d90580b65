// Varnish and nginx in front of an app: once a revalidation has returned, neither serves an old page.

import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { createNextOnFastify, type Revalidation } from 'next-on-fastify'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { BUILD_TIMEOUT, builtFixture } from '../helpers/built-fixture.ts'
import {
  type FrontCache,
  hasNginx,
  hasVarnish,
  startNginx,
  startVarnish,
  type Through,
} from '../helpers/caches-in-front.ts'

const PAGES = ['/page-of-file', '/data', '/fetched/1', '/route', '/old', '/dynamic']

/** What revalidates each of them. */
const CHANGES = [
  '/change?path=/page-of-file',
  '/change?tag=data',
  '/change?tag=fetched',
  '/change?path=/route',
  '/api/revalidate?path=/old',
  '/change?tag=dynamic',
]

let app: FastifyInstance
let folder: string
let version = 0
let purge: (revalidation: Revalidation) => unknown = () => {}
const announced: Omit<Revalidation, 'signal'>[] = []
const source = createServer((_, response) => void response.end(String(version)))

function setVersion(next: number): void {
  version = next
  writeFileSync(join(folder, 'version'), String(next))
}

const versionIn = ({ body }: Through): number => Number(/version (\d+)/.exec(body)?.[1])

beforeAll(async () => {
  const built = await builtFixture(inject('peers'), {}, 'shared')
  folder = mkdtempSync(join(tmpdir(), 'cdn-'))
  const dir = mkdtempSync(join(built, '../copy-'))
  cpSync(built, dir, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  source.listen(0, '127.0.0.1')
  await once(source, 'listening')
  Object.assign(process.env, {
    NODE_ENV: 'production',
    VERSION_FILE: join(folder, 'version'),
    RENDERS_FILE: join(folder, 'renders'),
    VERSION_URL: `http://127.0.0.1:${(source.address() as AddressInfo).port}`,
  })
  setVersion(1)
  app = await createNextOnFastify({
    dir,
    bypassRouter: 'all',
    cdn: {
      tagHeader: 'xkey',
      onRevalidate: (revalidation) => {
        const { tags, paths } = revalidation
        announced.push({ tags, paths })
        return purge(revalidation)
      },
    },
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  return async () => {
    await app.close()
    source.close()
    rmSync(folder, { recursive: true })
    rmSync(dir, { recursive: true })
  }
}, BUILD_TIMEOUT)

const port = (): number => (app.server.address() as AddressInfo).port

describe.runIf(hasVarnish)('behind Varnish', () => {
  let varnish: FrontCache
  beforeAll(async () => {
    varnish = await startVarnish(port())
    purge = async ({ tags }) => {
      const { status } = await varnish.ask('/', { 'xkey-purge': tags.join(' ') }, 'PURGE')
      if (status !== 200) throw new Error(`It has responded ${status}`)
    }
  }, 60_000)
  afterAll(() => varnish.close())

  const hits = async (path: string): Promise<number> => Number((await varnish.ask(path)).headers['x-hits'])

  it('has cached pages, and no old one after a revalidation', async () => {
    for (const change of CHANGES) expect((await varnish.ask(change)).status).toBe(200)
    for (let turn = 0; turn < 3; turn++) {
      for (const path of PAGES.slice(0, -1)) {
        await expect.poll(() => hits(path)).toBeGreaterThan(0)
        expect({ path, version: versionIn(await varnish.ask(path)) }).toEqual({ path, version })
      }
      setVersion(version + 1)
      for (const [index, change] of CHANGES.entries()) {
        expect((await varnish.ask(change)).status).toBe(200)
        const path = PAGES[index]!
        expect({ path, version: versionIn(await varnish.ask(path)) }).toEqual({ path, version })
      }
    }
  })

  it('has no old page when many are requested during revalidations', async () => {
    const done = new AbortController()
    const changed = new Map(PAGES.map((path) => [path, version]))
    const reading = PAGES.map(async (path) => {
      while (!done.signal.aborted) {
        const least = changed.get(path)!
        const found = versionIn(await varnish.ask(path))
        expect({ path, found, isOld: found < least }).toEqual({ path, found, isOld: false })
      }
    })
    for (let turn = 0; turn < 10; turn++) {
      setVersion(version + 1)
      for (const [index, change] of CHANGES.entries()) {
        await varnish.ask(change)
        changed.set(PAGES[index]!, version)
      }
    }
    done.abort()
    await Promise.all(reading)
  })

  // Next 15 has no profiles.
  it.runIf(inject('peers') === 'newest')('has a page that a profile lets go stale for a second at most', async () => {
    await expect.poll(() => hits('/data')).toBeGreaterThan(0)
    setVersion(version + 1)
    await varnish.ask('/change?tag=data&profile=max')
    const { headers } = await varnish.ask('/data')
    expect(headers['cache-control']).toMatch(/^s-maxage=1\b/)
    await expect.poll(async () => versionIn(await varnish.ask('/data'))).toBe(version)
  })

  it('announces each revalidation once', async () => {
    const before = announced.length
    await varnish.ask('/change?path=/page-of-file')
    await varnish.ask('/api/revalidate?path=/old')
    await fetch(`http://127.0.0.1:${port()}/old`, { headers: { 'x-prerender-revalidate': 'guessed' } })
    expect(announced.slice(before)).toEqual([
      { tags: ['_N_T_/page-of-file'], paths: ['/page-of-file'] },
      { tags: ['_N_T_/old'], paths: ['/old'] },
    ])
  })

  it('shares no response to a forwarded protocol with clients that send none', async () => {
    const echo = createServer(({ headers }, response) => {
      response.setHeader('cache-control', 's-maxage=60')
      response.end(String(headers['x-forwarded-proto']))
    })
    echo.listen(0, '127.0.0.1')
    await once(echo, 'listening')
    const front = await startVarnish((echo.address() as AddressInfo).port)
    const bodies: string[] = []
    for (const sent of [{ 'x-forwarded-proto': 'https' }, { 'x-forwarded-proto': 'evil' }, {}]) {
      bodies.push((await front.ask('/', sent)).body)
    }
    expect(bodies).toEqual(['https', 'undefined', 'undefined'])
    expect((await front.ask('/', { 'x-forwarded-proto': 'evil' })).headers['x-hits']).toBe('2')
    await front.close()
    echo.close()
  })
})

describe.runIf(hasNginx)('behind nginx', () => {
  let nginx: FrontCache
  beforeAll(async () => {
    nginx = await startNginx(port())
    purge = ({ paths }) => Promise.all(paths.map((path) => nginx.ask(path, { 'x-refresh': '1' })))
  }, 60_000)
  afterAll(() => nginx.close())

  it('has cached pages, and no old one after their paths were revalidated', async () => {
    const pages = [
      ['/page-of-file', '/change?path=/page-of-file'],
      ['/route', '/change?path=/route'],
      ['/old', '/api/revalidate?path=/old'],
    ] as const
    for (const [, change] of pages) await nginx.ask(change)
    for (let turn = 0; turn < 3; turn++) {
      setVersion(version + 1)
      for (const [path, change] of pages) {
        await expect.poll(async () => (await nginx.ask(path)).headers['x-cached']).toBe('HIT')
        await nginx.ask(change)
        const { headers, ...answer } = await nginx.ask(path)
        expect({ path, version: versionIn({ headers, ...answer }), cached: headers['x-cached'] }).toEqual({
          path,
          version,
          cached: 'HIT',
        })
      }
    }
  })

  it('passes the host of the site to the app, and caches no draft', async () => {
    const echo = createServer(({ headers }, response) => {
      response.setHeader('cache-control', 's-maxage=60')
      response.end(JSON.stringify(headers))
    })
    echo.listen(0, '127.0.0.1')
    await once(echo, 'listening')
    const front = await startNginx((echo.address() as AddressInfo).port)
    // Its response is stored for the clients of all hosts.
    const sent = {
      host: 'evil.example',
      ...{ 'x-forwarded-host': 'evil.example', 'x-forwarded-port': '1', 'x-forwarded-proto': 'https' },
    }
    const { body } = await front.ask('/', { ...sent, 'accept-encoding': 'gzip' })
    expect(JSON.parse(body)).toMatchObject({
      host: 'www.example.com',
      'x-forwarded-host': 'www.example.com',
      'x-forwarded-proto': 'http',
    })
    expect(body).not.toMatch(/evil|accept-encoding/)
    expect(JSON.parse(body)).not.toMatchObject({ 'x-forwarded-port': '1' })
    const draft = { cookie: '__prerender_bypass=1' }
    const cached = [{}, draft, { rsc: '1' }, {}].map(
      async (headers) => (await front.ask('/', headers)).headers['x-cached'],
    )
    expect(await Promise.all(cached)).toEqual(['HIT', 'BYPASS', 'BYPASS', 'HIT'])
    await front.close()
    echo.close()
  })
})
