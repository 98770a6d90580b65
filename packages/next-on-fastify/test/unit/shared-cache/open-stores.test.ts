import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { storesOf } from '../../../src/shared-cache/open-stores.ts'
import type { Entry } from '../../../src/shared-cache/store-contract.ts'

const reader = { changed: () => {}, lost: () => {} }

/** Writes a build with an id that the app sets, and a secret that Next has chosen. */
function aBuild(buildId: string, previewModeId: string): string {
  const distDir = mkdtempSync(join(tmpdir(), 'open-stores-'))
  onTestFinished(() => rmSync(distDir, { recursive: true, force: true }))
  writeFileSync(join(distDir, 'BUILD_ID'), buildId)
  writeFileSync(join(distDir, 'prerender-manifest.json'), JSON.stringify({ preview: { previewModeId } }))
  return distDir
}

const entry = (key: string): Entry => ({
  ...{ key, renderId: '', since: 0, begunAt: 0, lastModified: 0, cacheControl: undefined },
  value: 'secret of one',
})

it('two apps with the same build id and one folder have no page of each other', async () => {
  const folder = aBuild('', '')
  const stores = ['one', 'other'].map((secret) => {
    const distDir = aBuild('v1', secret)
    return storesOf({ folder }, distDir, { distDir }).open(reader)
  })
  await stores[0]!.entries.write('/', entry('/'))
  expect(await stores[0]!.entries.read('/')).toMatchObject({ entry: { value: 'secret of one' } })
  expect(await stores[1]!.entries.read('/')).toBeUndefined()
  for (const { changes } of stores) changes.close()
})

it('two apps with the same build id and one Redis have no key in common', async () => {
  const keysOf = async (secret: string): Promise<Set<string>> => {
    const keys = new Set<string>()
    const redis = async ([command, ...rest]: string[]): Promise<unknown> => {
      keys.add(rest[command === 'EVAL' ? 2 : 0]!)
      return command === 'XLEN' ? 0 : command === 'XRANGE' ? [] : 'OK'
    }
    const distDir = aBuild('v1', secret)
    const { open, useCache, images } = storesOf({ redis }, distDir, { distDir })
    const { changes, entries } = open(reader)
    await changes.append({ by: '' })
    for (const store of [entries, useCache.entries, images!.entries]) await store.write('/', entry('/'))
    const lock = await images!.locks.acquire('/')
    await lock!.release()
    return keys
  }
  const [one, other] = await Promise.all([keysOf('one'), keysOf('other')])
  expect(one.size).toBe(5)
  expect([...one].filter((key) => other.has(key))).toEqual([])
})

it('pages are read from Redis while images take too long', async () => {
  const redis = async ([, key = '']: string[]): Promise<unknown> => {
    if (key.includes(':images:')) throw new Error('Redis timeout')
    return null
  }
  const distDir = aBuild('v1', 'secret')
  const { open, images } = storesOf({ redis }, distDir, { distDir })
  await expect(images!.entries.read('image')).rejects.toThrow('Redis timeout')
  expect(await open(reader).entries.read('/')).toBeUndefined()
})

it.each<[string, object, number | undefined, number | undefined]>([
  ['the limit of the configuration', { maximumDiskCacheSize: 5000 }, undefined, 500],
  ['the limit of the option', {}, 10_000, 1000],
  ['no files of images if the configuration allows none', { maximumDiskCacheSize: 0 }, 10_000, undefined],
])('respects %s', (_, images, maxBytes, expected) => {
  const distDir = aBuild('v1', 'secret')
  const stores = storesOf({ ...(maxBytes !== undefined && { maxBytes }) }, distDir, { distDir, images })
  expect(stores.images?.maxEntryBytes).toBe(expected)
})

it('images of all builds in a folder take no more than the limit', async () => {
  const folder = aBuild('', '')
  const [old, current] = ['old', 'current'].map((buildId) => {
    const distDir = aBuild(buildId, 'secret')
    return storesOf({ folder, maxBytes: 100_000 }, distDir, { distDir }).images!.entries
  })
  const image = { ...entry(''), value: { buffer: Buffer.alloc(8000) } }
  for (let index = 0; index < 15; index++) await old!.write(`old ${index}`, image)
  for (let index = 0; index < 15; index++) await current!.write(`current ${index}`, image)
  await expect.poll(() => old!.read('old 0')).toBeUndefined()
  expect(await current!.read('current 14')).toBeDefined()
})
