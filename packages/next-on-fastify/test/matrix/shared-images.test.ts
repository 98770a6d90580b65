// Real processes that serve one build request the same image at once. Its source counts how often it is read.

import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { isMissing, redisServer } from '@test/redis-server'
import { createNextOnFastify } from 'next-on-fastify'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { BUILD_TIMEOUT } from '../helpers/built-fixture.ts'
import { sharedApp, type SharedApp, type SharingProcess } from '../helpers/sharing-processes.ts'

/** How long the first version of a path with `stale` is fresh, in ms. Further ones are fresh for the whole test. */
const FIRST_LIFETIME = 1000

const isNewest = inject('peers') === 'newest'

/** Source of images. It counts reads of each path, and has none with `missing` in its path. */
let origin: Server
const reads = new Map<string, number>()
let app: SharedApp
beforeAll(async () => {
  const picture = await aPicture()
  origin = createServer((request, response) => {
    const path = request.url!
    reads.set(path, (reads.get(path) ?? 0) + 1)
    if (path.includes('missing')) response.writeHead(404).end()
    else {
      const lifetime = path.includes('stale') && reads.get(path) === 1 ? FIRST_LIFETIME / 1000 : 3600
      response.writeHead(200, { 'content-type': 'image/png', 'cache-control': `max-age=${lifetime}` }).end(picture)
    }
  }).listen(0, '127.0.0.1')
  await once(origin, 'listening')
  app = await sharedApp(inject('peers'))
}, BUILD_TIMEOUT)
afterAll(async () => {
  await app.close()
  origin.closeAllConnections()
  origin.close()
})

/** A PNG with noise, so that a transform takes a while. */
async function aPicture(): Promise<Buffer> {
  const fromNext = createRequire(createRequire(import.meta.url).resolve('next/package.json'))
  const sharp = fromNext('sharp') as (options: object) => { png(): { toBuffer(): Promise<Buffer> } }
  const noise = { type: 'gaussian', mean: 128, sigma: 40 }
  return sharp({ create: { width: 800, height: 600, channels: 3, background: '#888', noise } })
    .png()
    .toBuffer()
}

interface Shown {
  readonly status: number
  readonly cache: string | null
  readonly body: Buffer
}

async function requestImage(server: string, path: string): Promise<Shown> {
  const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}${path}`
  const response = await fetch(`${server}/_next/image?url=${encodeURIComponent(url)}&w=640&q=75`, {
    headers: { accept: 'image/webp' },
  })
  const body = Buffer.from(await response.arrayBuffer())
  return { status: response.status, cache: response.headers.get('x-nextjs-cache'), body }
}

/** Registers the tests for processes that are started by `start`. */
function transformsOnce(name: string, start: () => Promise<SharingProcess>): void {
  let processes: SharingProcess[]
  beforeAll(async () => {
    processes = await Promise.all([start(), start(), start(), start()])
  }, BUILD_TIMEOUT)
  afterAll(() => Promise.all(processes.map((one) => one.kill())))

  const all = (path: string): Promise<Shown[]> =>
    Promise.all(processes.flatMap((one) => [requestImage(one.origin, path), requestImage(one.origin, path)]))

  it('an image is transformed once for all processes that request it at once', async () => {
    for (const path of [`/${name}-first.png`, `/${name}-second.png`]) {
      const shown = await all(path)
      expect(shown.map(({ status }) => status)).toEqual(shown.map(() => 200))
      expect(new Set(shown.map(({ body }) => body.toString('base64'))).size).toBe(1)
      expect(reads.get(path)).toBe(1)
    }
  })

  it('an image without a source gets the same error from each process, and holds up nobody', async () => {
    const shown = await all(`/${name}-missing.png`)
    expect(new Set(shown.map(({ status }) => status))).toEqual(new Set([404]))
  })

  it('a stale image is transformed once, and is served by all processes meanwhile', async () => {
    const path = `/${name}-stale.png`
    await all(path)
    await wait(FIRST_LIFETIME + 500)
    const shown = await all(path)
    expect(shown.map(({ cache }) => cache)).not.toContain('MISS')
    await expect.poll(async () => new Set((await all(path)).map(({ cache }) => cache))).toEqual(new Set(['HIT']))
    expect(reads.get(path)).toBe(2)
  })

  it('a new process serves images of the others', async () => {
    const path = `/${name}-kept.png`
    await all(path)
    const before = reads.get(path)
    const late = await start()
    expect(await requestImage(late.origin, path)).toMatchObject({
      status: 200,
      cache: expect.not.stringMatching('MISS'),
    })
    await late.kill()
    expect(before).toBe(1)
  })
}

describe.runIf(isNewest)('processes of one machine', () => {
  transformsOnce('machine', () => app.start({ sharedCache: 'machine' }))
})

describe.runIf(isNewest && !isMissing)('machines with one Redis', () => {
  const redis = redisServer()
  transformsOnce('redis', () => app.start({}, redis.path))
})

it.runIf(isNewest)('two apps with the same build id and one folder transform images for themselves', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'shared-images-'))
  const other = `${app.dir}-other`
  cpSync(app.dir, other, { recursive: true, verbatimSymlinks: true })
  const path = join(other, '.next/prerender-manifest.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { preview: { previewModeId: string } }
  manifest.preview.previewModeId = 'of another app'
  writeFileSync(path, JSON.stringify(manifest))
  const processes = await Promise.all([
    app.start({ sharedCache: { folder } }),
    app.start({ dir: other, sharedCache: { folder } }),
  ])
  for (const one of processes) expect(await requestImage(one.origin, '/two-apps.png')).toMatchObject({ cache: 'MISS' })
  expect(reads.get('/two-apps.png')).toBe(2)
  // The same holds for pages.
  expect(readdirSync(folder).filter((name) => name !== 'images')).toHaveLength(2)
  await Promise.all(processes.map((one) => one.kill()))
  rmSync(folder, { recursive: true })
})

it.runIf(!isNewest)('an older Next transforms images in each process, and the log says so', async () => {
  const logged: string[] = []
  const stream = new Writable({
    write(line, _, done) {
      logged.push((JSON.parse(String(line)) as { msg: string }).msg)
      done()
    },
  })
  const own = await createNextOnFastify({
    dir: app.dir,
    dev: false,
    sharedCache: 'machine',
    fastify: { logger: { stream } },
  })
  const server = await own.listen({ host: '127.0.0.1', port: 0 })
  expect(await requestImage(server, '/older.png')).toMatchObject({ status: 200 })
  await own.close()
  expect(logged).toContain('each process transforms its images itself: its Next has no cache handler for images')
})
