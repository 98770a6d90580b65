// `'use cache'` of several processes that serve one build: on one machine, and by a Redis.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing, redisServer } from '@test/redis-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUILD_TIMEOUT } from '../helpers/built-fixture.ts'
import { sharedApp, type SharedApp, type SharingProcess } from '../helpers/sharing-processes.ts'

const PAGES = [
  ['a page, by its path', '/page-of-file', '/change?path=/page-of-file'],
  ['a page, by a tag of a cached function', '/data', '/change?tag=data'],
  ['a function in a dynamic hole', '/dynamic', '/change?tag=dynamic'],
  ["a function with 'use cache: remote'", '/remote', '/change?tag=remote'],
] as const

let app: SharedApp
let version = 0
beforeAll(async () => {
  app = await sharedApp('newest', 'components')
}, BUILD_TIMEOUT)
afterAll(() => app.close())

/** Registers the tests for processes that are started by `start`. */
function sharesUseCache(start: () => Promise<SharingProcess>): void {
  let processes: SharingProcess[]
  const nth = (index: number): SharingProcess => processes[index % processes.length]!
  beforeAll(async () => {
    processes = await Promise.all([start(), start(), start()])
  }, BUILD_TIMEOUT)
  afterAll(() => Promise.all(processes.map((one) => one.kill())))

  it.each(PAGES)('no process shows the old one after a revalidation that has returned: %s', async (_, path, change) => {
    for (let turn = 0; turn < 6; turn++) await nth(turn).version(path)
    const stale: string[] = []
    for (let turn = 0; turn < 3; turn++) {
      app.setVersion(++version)
      await nth(turn).change(change)
      for (let request = 0; request < 9; request += 3) {
        const shown = await Promise.all([0, 1, 2].map((index) => nth(request + index + turn).version(path)))
        for (const one of shown) if (one !== version) stale.push(`${one} in place of ${version}`)
      }
    }
    expect(stale).toEqual([])
  })

  it('generates an entry once for all processes', async () => {
    app.setVersion(++version)
    await nth(0).change('/change?tag=dynamic')
    const before = app.renders('dynamic')
    for (let request = 0; request < 9; request++) expect(await nth(request).version('/dynamic')).toBe(version)
    expect(app.renders('dynamic') - before).toBe(1)
  })

  it('serves pages from the response cache of each process', async () => {
    for (let turn = 0; turn < 12; turn++) await nth(turn).version('/data')
    for (const one of processes) expect((await one.counts()).hits).toBeGreaterThan(0)
  })

  it("shows each user the own result of 'use cache: private'", async () => {
    const users = ['one', 'two', 'three', 'one', 'two', 'three', 'one']
    for (const [index, user] of users.entries()) {
      const response = await fetch(`${nth(index).origin}/private`, { headers: { cookie: `user=${user}` } })
      const text = await response.text()
      expect(text).toContain(`user ${user}`)
      const others = users.filter((other) => other !== user)
      expect(others.filter((other) => text.includes(`user ${other}`))).toEqual([])
    }
  })
}

describe('processes of one machine', () => {
  sharesUseCache(() => app.start({ sharedCache: 'machine' }))

  it("store no result of 'use cache: private'", () => {
    const folder = join(app.dir, '.next/next-on-fastify')
    const stored = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    expect(stored.length).toBeGreaterThan(3)
    expect(stored.filter((text) => text.includes('user one'))).toEqual([])
  })
})

describe.skipIf(isMissing)('machines with one Redis', () => {
  const redis = redisServer()
  sharesUseCache(() => app.start({}, redis.path))
})
