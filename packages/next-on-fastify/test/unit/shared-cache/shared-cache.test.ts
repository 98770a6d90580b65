import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Fastify from 'fastify'
import { createNextOnFastify } from 'next-on-fastify'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Availability } from '../../../src/shared-cache/outage-log.ts'
import { sharedHandler } from '../../../src/shared-cache/shared-cache-handler.ts'
import { FileChanges } from '../../../src/shared-cache/file-change-log.ts'
import { FileEntries } from '../../../src/shared-cache/file-entries.ts'
import { revalidatedTagsOf, type AddRevalidatedTags } from '../../../src/next/page-cache/revalidated-tags.ts'
import { shareCache } from '../../../src/shared-cache/open-shared-cache.ts'
import { SharedCache } from '../../../src/shared-cache/shared-cache.ts'
import type { ChangeReader, Store } from '../../../src/shared-cache/store-contract.ts'
import { standInApp } from '../../helpers/stand-in.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shared-cache-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function write(path: string, content: string): void {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path), content)
}

const HANDLERS = Symbol.for('@next/cache-handlers')
const INCREMENTAL = 'node_modules/next/dist/server/lib/incremental-cache'

describe('the cache of an app cannot be shared', () => {
  // Where Next looks for it; other tests of this process have one of their own.
  const place = globalThis as { [HANDLERS]?: unknown }
  const before = place[HANDLERS]
  beforeEach(() => delete place[HANDLERS])
  afterEach(() => {
    place[HANDLERS] = before
  })

  /** An app whose Next has what is needed, but for what a test takes away. */
  function anApp(config: object = {}, tags = 'new Map()', files = 'class {}'): string {
    write('package.json', '{}')
    const loaded = JSON.stringify({ distDir: 'build', ...config })
    write('node_modules/next/dist/server/config.js', `exports.default = async () => (${loaded})`)
    write(`${INCREMENTAL}/tags-manifest.external.js`, `exports.tagsManifest = ${tags}`)
    write(`${INCREMENTAL}/file-system-cache.js`, `exports.default = ${files}`)
    write('build/BUILD_ID', 'one')
    write('build/server/pages-manifest.json', '{}')
    write('build/prerender-manifest.json', '{ "preview": { "previewModeId": "secret" } }')
    return folder
  }

  it.each<[string, () => string, string, string]>([
    ['whose configuration has another one', () => anApp({ cacheHandler: './mine.js' }), 'shared', '"cacheHandler"'],
    ['whose Next keeps tags in another way', () => anApp({}, '7'), 'shared', 'revalidated tags in an unknown way'],
    ['whose Next has no cache of files', () => anApp({}, 'new Map()', 'undefined'), 'shared', 'no file cache'],
    ['that was not built', () => anApp({ distDir: 'elsewhere' }), 'shared', 'ENOENT'],
    ['for which there is no folder', () => anApp(), 'package.json', 'ENOTDIR'],
  ])('%s', async (_, dir, name, why) => {
    const app = dir()
    await expect(shareCache(app, {}, { folder: join(folder, name) }, Fastify().log)).rejects.toMatchObject({
      code: 'NEXT_ON_FASTIFY_CACHE_NOT_SHARED',
      message: expect.stringMatching(`${app} cannot be shared: .*${why}`) as string,
    })
  })

  it('and Next is closed', async () => {
    const counted = globalThis as { closedNext?: number }
    counted.closedNext = 0
    const told = createNextOnFastify({ dir: standInApp(), dev: false, sharedCache: 'machine' })
    await expect(told).rejects.toMatchObject({ code: 'NEXT_ON_FASTIFY_CACHE_NOT_SHARED' })
    expect(counted.closedNext).toBe(1)
  })
})

describe('revalidations of other processes reach Next', () => {
  const told = (manifest: string, tell: (next: AddRevalidatedTags) => void): unknown => {
    write('package.json', '{}')
    write(`${INCREMENTAL}/tags-manifest.external.js`, `module.exports = ${manifest}`)
    const next = revalidatedTagsOf(folder)
    tell(next!)
    return read()
  }
  const tags = globalThis as { tags?: unknown }
  const read = (): unknown => (tags.tags instanceof Map ? Object.fromEntries(tags.tags) : tags.tags)

  it('of version 16, by times', () => {
    expect(
      told('{ tagsManifest: globalThis.tags = new Map(), areTagsExpired() {} }', (next) => {
        next(['a', 'b'], 5, false, Infinity)
        next(['b', 'c'], 7, true, Infinity)
        next(['d'], 8, true, 9)
      }),
    ).toEqual({ a: { expired: 5 }, b: { expired: 5, stale: 7 }, c: { stale: 7 }, d: { stale: 8, expired: 9 } })
  })

  it('of version 15, by one time', () => {
    const tell = (next: AddRevalidatedTags): void => next(['a'], 5, false, Infinity)
    expect(told('{ tagsManifest: globalThis.tags = new Map() }', tell)).toEqual({ a: 5 })
  })
})

describe('an entry', () => {
  type Handler = InstanceType<ReturnType<typeof sharedHandler>>
  const caches: SharedCache[] = []
  afterEach(() => {
    vi.useRealTimers()
    for (const cache of caches.splice(0)) cache.close()
  })

  /** What makes the handlers of requests of one process. */
  function aProcess(seeds: Readonly<Record<string, object>> = {}): (onDemand?: boolean) => Handler {
    const open = (reader: ChangeReader): Store => ({
      changes: new FileChanges(join(folder, 'shared'), reader),
      entries: new FileEntries(join(folder, 'shared/entries')),
    })
    const cache = new SharedCache(open, () => {})
    caches.push(cache)
    class OfBuild {
      async get(key: string): Promise<object | null> {
        return seeds[key] ?? null
      }
      async set(): Promise<void> {}
      async revalidateTag(): Promise<void> {}
    }
    const Shared = sharedHandler(OfBuild, () => ({
      cache,
      onDemandSecret: 'secret',
      storing: new Availability(Fastify().log, { works: '', fails: '' }),
      useCache: undefined,
      images: undefined,
    }))
    return (onDemand = false) =>
      new Shared({
        serverDistDir: '/app',
        maxMemoryCacheSize: 1e6,
        _requestHeaders: { 'x-prerender-revalidate': onDemand ? 'secret' : 'guessed' },
      })
  }
  const page = (html: string, ...tags: string[]): { kind: string; html: string; headers: object } => ({
    kind: 'APP_PAGE',
    html,
    headers: { 'x-next-cache-tags': tags.join(',') },
  })
  const CONTEXT = { kind: 'APP_PAGE', cacheControl: { revalidate: 60, expire: 3600 } }
  const htmlOf = async (handler: Handler, key = '/a'): Promise<unknown> =>
    ((await handler.get(key, CONTEXT))?.value as { html?: string } | undefined)?.html

  it('is the one of another process with its lifetime, or the one of the build', async () => {
    const seeds = { '/a': { lastModified: 1, value: page('built', 't') } }
    const [one, two] = [aProcess(seeds), aProcess(seeds)]
    expect([await htmlOf(one()), await htmlOf(two())]).toEqual(['built', 'built'])
    const making = one()
    await making.get('/a', CONTEXT)
    await making.set('/a', page('new', 't'), CONTEXT)
    expect(await two().get('/a', CONTEXT)).toMatchObject({ value: { html: 'new' }, cacheControl: CONTEXT.cacheControl })
    await one().set('/gone', null, CONTEXT)
    expect(await two().get('/gone', CONTEXT)).toMatchObject({ value: null })
    // It is not shown by those who start later either.
    await two().revalidateTag(['t'])
    expect([await htmlOf(one()), await htmlOf(aProcess(seeds)())]).toEqual([undefined, undefined])
  })

  it('that was begun before a revalidation and ends after it is not stored', async () => {
    const [one, two] = [aProcess(), aProcess()]
    const making = one()
    await making.get('/a', CONTEXT)
    await two().revalidateTag('t')
    await making.set('/a', page('old', 't'), CONTEXT)
    await making.set('/b', page('other', 'u'), CONTEXT)
    expect([await htmlOf(two()), await htmlOf(two(), '/b')]).toEqual([undefined, 'other'])
  })

  it('of data is judged by all tags of who asks', async () => {
    const [one, two] = [aProcess(), aProcess()]
    const context = { kind: 'FETCH', fetchCache: true, tags: ['t'], softTags: ['_N_T_/a'] }
    const data = { kind: 'FETCH', data: { body: '1' }, revalidate: 60 }
    const making = one()
    expect(await making.get('key', context)).toBeNull()
    await making.set('key', data, { fetchCache: true, tags: ['t'] })
    expect(await two().get('key', context)).toMatchObject({ value: data })
    await two().revalidateTag(['_N_T_/a'])
    expect([await one().get('key', context), await one().get('key', { ...context, softTags: [] })]).toMatchObject([
      null,
      { value: data },
    ])
    // Begun before, with a tag that is told then only.
    const late = one()
    await late.get('late', context)
    await two().revalidateTag(['_N_T_/a'])
    await late.set('late', data, { fetchCache: true, tags: ['t'] })
    expect(await two().get('late', { ...context, softTags: [] })).toBeNull()
  })

  it('that is stale is older than its revalidation, whatever the clocks say', async () => {
    const [one, two] = [aProcess(), aProcess()]
    await one().set('/a', page('old', 't'), CONTEXT)
    const before = Date.now()
    await two().revalidateTag(['t'], { expire: 60 })
    const found = await one().get('/a', CONTEXT)
    expect(found).toMatchObject({ value: { html: 'old' } })
    expect(found?.lastModified).toBeLessThanOrEqual(before)
    await two().revalidateTag(['t'], { expire: 0 })
    expect(await htmlOf(one())).toBeUndefined()
  })

  it('that was begun later stays', async () => {
    const [one, two] = [aProcess(), aProcess()]
    const early = one()
    await early.get('/a', CONTEXT)
    await wait(5)
    const late = two()
    await late.get('/a', CONTEXT)
    await late.set('/a', page('late'), CONTEXT)
    await early.set('/a', page('early'), CONTEXT)
    expect(await htmlOf(one())).toBe('late')
  })

  it('regenerated on demand is not replaced by an older rendering', async () => {
    const [one, two] = [aProcess(), aProcess()]
    const early = one()
    await early.get('/a', CONTEXT)
    const demanded = two(true)
    await demanded.get('/a', CONTEXT)
    await demanded.set('/a', page('demanded'), CONTEXT)
    await early.set('/a', page('early'), CONTEXT)
    expect([await htmlOf(one()), await htmlOf(two())]).toEqual(['demanded', 'demanded'])
  })

  it('stays if rendering fails', async () => {
    const [one, two] = [aProcess(), aProcess()]
    await one().set('/kept', page('first'), CONTEXT)
    const failing = one(true)
    const before = await failing.get('/kept', CONTEXT)
    const cacheControl = { revalidate: 3 }
    await failing.set('/kept', before!.value!, { ...CONTEXT, cacheControl })
    expect(await two().get('/kept', CONTEXT)).toMatchObject({ value: { html: 'first' }, cacheControl })
  })

  it('is replaced if rendering fails but another process has rendered it, even within one millisecond', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const [one, two] = [aProcess(), aProcess()]
    await one().set('/made', page('first'), CONTEXT)
    const failing = one(true)
    const before = await failing.get('/made', CONTEXT)
    await two().set('/made', page('second'), CONTEXT)
    await failing.set('/made', before!.value!, CONTEXT)
    expect(await htmlOf(two(), '/made')).toBe('second')
  })

  it('whose file is broken is not there', async () => {
    const [one] = [aProcess()]
    await one().set('/a', page('first'), CONTEXT)
    const entries = join(folder, 'shared/entries')
    const [file] = readdirSync(entries, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    writeFileSync(join(file!.parentPath, file!.name), 'no entry')
    expect(await htmlOf(one())).toBeUndefined()
  })
})
