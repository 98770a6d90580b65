import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { UseCacheEntry } from '../../../src/next/use-cache/use-cache-handler.ts'
import { FileChanges } from '../../../src/shared-cache/file-change-log.ts'
import { FileEntries } from '../../../src/shared-cache/file-entries.ts'
import { FileRetention } from '../../../src/shared-cache/file-retention.ts'
import { Availability } from '../../../src/shared-cache/outage-log.ts'
import { SharedCache } from '../../../src/shared-cache/shared-cache.ts'
import { SharedUseCache } from '../../../src/shared-cache/shared-use-cache.ts'
import { compareWithNext, fakeClock, read, streamOf } from '../../helpers/use-cache-differential.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'use-cache-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})

interface Process {
  readonly cache: SharedCache
  readonly handler: SharedUseCache
  readonly error: ReturnType<typeof vi.fn<(fields: object, message: string) => void>>
}

/** The handler of a process that shares the folder. */
function aProcess(copyBytes = 1_000_000, maxEntryBytes = 1_000_000): Process {
  const entries = new FileEntries(join(folder, 'entries'))
  const cache = new SharedCache(
    (reader) => ({ changes: new FileChanges(folder, reader), entries }),
    () => {},
  )
  onTestFinished(() => cache.close())
  const error = vi.fn<(fields: object, message: string) => void>()
  const log = { error, info: () => {} } as unknown as FastifyBaseLogger
  const storing = new Availability(log, { works: 'works', fails: 'fails' })
  const useCache = { entries: new FileEntries(join(folder, 'use-cache')), maxEntryBytes }
  return { cache, handler: new SharedUseCache(cache, useCache, storing, copyBytes), error }
}

const time = (): number => performance.timeOrigin + performance.now()

function entry(text: string, more: Partial<UseCacheEntry> = {}): Promise<UseCacheEntry> {
  const times = { stale: 30, timestamp: time(), expire: 3600, revalidate: 900 }
  return Promise.resolve({ ...times, tags: ['a'], value: streamOf(text), ...more })
}

const textOf = async (handler: SharedUseCache, key = 'key', softTags: string[] = []): Promise<string | undefined> => {
  const found = await handler.get(key, softTags)
  return found && new Response(found.value).text()
}

/** The files of all entries. */
function files(): string[] {
  return readdirSync(join(folder, 'use-cache'), { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
}

describe('random sequences give the same entries as the handler of Next', () => {
  it.each([
    ['one process', 1, 1_000_000],
    ['three processes', 3, 1_000_000],
    ['three processes without copies', 3, 0],
  ])('%s', async (_, count, copyBytes) => {
    const clock = fakeClock()
    const handlers = Array.from({ length: count }, () => aProcess(copyBytes).handler)
    let [compared, found] = [0, 0]
    for (let seed = 0; seed < 40; seed++) {
      const counts = await compareWithNext(handlers, clock, seed, 100)
      compared += counts.compared
      found += counts.found
    }
    expect(compared).toBeGreaterThan(500 * count)
    expect(found).toBeGreaterThan(50 * count)
  })
})

describe('an entry', () => {
  it('is found by another process, by each reader from its beginning', async () => {
    const [one, other] = [aProcess(), aProcess()]
    await one.handler.set('key', entry('text'))
    const first = await other.handler.get('key', [])
    const second = await other.handler.get('key', [])
    await first?.value.cancel()
    expect(await read(second)).toMatchObject({ text: 'text', tags: ['a'], stale: 30, expire: 3600, revalidate: 900 })
    expect(await textOf(other.handler)).toBe('text')
  })

  it('that is being stored is waited for', async () => {
    const { handler } = aProcess()
    const { promise, resolve } = Promise.withResolvers<UseCacheEntry>()
    const stored = handler.set('key', promise)
    const found = textOf(handler)
    resolve(await entry('late'))
    expect(await found).toBe('late')
    await stored
  })

  it('whose generation fails is missing, and does not hold up others', async () => {
    const { handler } = aProcess()
    const value = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (controller.desiredSize === 1) controller.enqueue(Buffer.from('a part'))
        controller.error(new Error('no database'))
      },
    })
    await handler.set('key', entry('', { value }))
    expect(await textOf(handler)).toBeUndefined()
    await expect(handler.set('key', Promise.reject(new Error('no entry')))).rejects.toThrow('no entry')
    expect(await textOf(handler)).toBeUndefined()
  })

  it('is stored whole where another reader of its stream stops', async () => {
    const { handler } = aProcess()
    const [page, stored] = streamOf('x'.repeat(200_000)).tee()
    const reader = page.getReader()
    const storing = handler.set('key', entry('', { value: stored }))
    await reader.read()
    await reader.cancel()
    await storing
    expect(await textOf(handler)).toHaveLength(200_000)
  })

  it.each<[string, (path: string) => void]>([
    ['truncated', (path) => truncateSync(path, statSync(path).size - 10)],
    ['empty', (path) => truncateSync(path, 0)],
    [
      'damaged',
      (path) => {
        const bytes = readFileSync(path)
        bytes[bytes.indexOf('a secret text') + 2] = 0x7a
        writeFileSync(path, bytes)
      },
    ],
    ['of another format', (path) => writeFileSync(path, 'text')],
  ])('in a %s file is missing', async (_, damage) => {
    await aProcess().handler.set('key', entry('a secret text'))
    const [path] = files()
    damage(path!)
    const { handler } = aProcess()
    expect(await textOf(handler)).toBeUndefined()
    await handler.set('key', entry('another'))
    expect(await textOf(handler)).toBe('another')
  })

  it('of another key is missing, even in the file of the key', async () => {
    const { handler } = aProcess()
    await handler.set('of a user', entry('secret'))
    const [secret] = files()
    await handler.set('key', entry('text'))
    const own = files().find((path) => path !== secret)!
    cpSync(secret!, own)
    expect(await textOf(aProcess().handler)).toBeUndefined()
  })

  it('has a key of any kind', async () => {
    const { handler } = aProcess()
    const keys = ['../../etc/passwd', 'a\0b', 'ü'.repeat(5000), '', '[["build","id",["user@example.com"]]]']
    for (const key of keys) await handler.set(key, entry(`text of ${key}`))
    for (const key of keys) expect(await textOf(handler, key)).toBe(`text of ${key}`)
    expect(files().every((path) => /\/use-cache\/[0-9a-f]{2}\/[0-9a-f]{62}$/.test(path))).toBe(true)
  })

  it('that is too large, or is generated for each request, is not stored', async () => {
    const { handler } = aProcess(1000, 10)
    await handler.set('large', entry('12345678901'))
    await handler.set('dynamic', entry('text', { expire: 0 }))
    await handler.set('key', entry('1234567890'))
    expect(files()).toHaveLength(1)
  })

  it('that cannot be stored is logged once, and fails nothing', async () => {
    const { handler, error } = aProcess()
    writeFileSync(join(folder, 'use-cache'), 'no folder')
    for (const key of ['one', 'two']) await handler.set(key, entry('text'))
    expect(error.mock.calls.map(([, message]) => message)).toEqual(['fails'])
    expect(await textOf(handler, 'one')).toBeUndefined()
  })
})

describe('after a revalidation by another process', () => {
  it.each<[string, string[], string[]]>([
    ['of its tag', ['a'], []],
    ['of a path', ['_N_T_/'], ['_N_T_/']],
  ])('%s, an entry is missing', async (_, tags, softTags) => {
    const [one, other] = [aProcess(), aProcess()]
    await one.handler.set('key', entry('old'))
    expect(await textOf(one.handler, 'key', softTags)).toBe('old')
    await other.handler.updateTags(tags)
    await one.handler.refreshTags()
    expect(await textOf(one.handler, 'key', softTags)).toBeUndefined()
    await one.handler.set('key', entry('new'))
    expect(await textOf(other.handler, 'key', softTags)).toBe('new')
  })

  it('an entry whose generation began before it is missing', async () => {
    const [one, other] = [aProcess(), aProcess()]
    const old = await entry('old')
    await other.handler.updateTags(['a'])
    // This process has not read it.
    await one.handler.set('key', Promise.resolve(old))
    await other.handler.refreshTags()
    expect(await textOf(other.handler)).toBeUndefined()
    await one.handler.refreshTags()
    expect(await textOf(one.handler)).toBeUndefined()
  })

  it('with a lifetime, an entry is served once more, until it expires', async () => {
    const clock = fakeClock()
    const [one, other] = [aProcess(), aProcess()]
    clock.time += 10
    await one.handler.set('key', entry('old'))
    clock.time += 10
    await other.handler.updateTags(['a'], { expire: 60 })
    await one.handler.refreshTags()
    expect(await read(await one.handler.get('key', []))).toMatchObject({ text: 'old', revalidate: -1 })
    clock.time += 60_001
    expect(await textOf(one.handler)).toBeUndefined()
  })

  it('all entries are missing while revalidations are unknown', async () => {
    const { handler, cache } = aProcess()
    await handler.set('key', entry('text'))
    const sync = vi.spyOn(cache, 'sync').mockRejectedValue(new Error('Redis timeout'))
    await handler.refreshTags()
    expect(await textOf(handler)).toBeUndefined()
    sync.mockRestore()
    await handler.refreshTags()
    expect(await textOf(handler)).toBe('text')
  })

  it('the log has one line for the caches of pages and of functions', async () => {
    const { handler, cache } = aProcess()
    const before = statSync(join(folder, 'changes-1')).size
    await Promise.all([handler.updateTags(['a'], { expire: 1 }), cache.revalidate(['a'], { expire: 1 })])
    const once = statSync(join(folder, 'changes-1')).size - before
    await cache.revalidate(['a'], { expire: 1 })
    expect(statSync(join(folder, 'changes-1')).size - before).toBe(2 * once)
  })
})

describe('the files of all entries', () => {
  it('take no more than their limit, and the oldest are removed', async () => {
    const entries = join(folder, 'use-cache')
    const retention = new FileRetention(entries, 100_000)
    const store = new FileEntries(entries)
    for (let index = 0; index < 40; index++) {
      const value = Buffer.alloc(5000)
      await store.write(`key ${index}`, {
        key: '',
        renderId: '',
        since: 0,
        begunAt: 0,
        lastModified: 0,
        cacheControl: undefined,
        value,
      })
      await retention.wrote(5000)
    }
    const total = files().reduce((sum, path) => sum + statSync(path).size, 0)
    expect(total).toBeLessThanOrEqual(110_000)
    expect(await store.read('key 0')).toBeUndefined()
    expect(await store.read('key 39')).toBeDefined()
  })
})
