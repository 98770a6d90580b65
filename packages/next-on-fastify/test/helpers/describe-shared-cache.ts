// What is asked of a shared cache with the newest and with the lowest Next: real processes of one build.

import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUILD_TIMEOUT, type Peers } from './built-fixture.ts'
import { sharedApp, type SharedApp, type SharingProcess } from './sharing-processes.ts'

/** What shows a version, by its path, and what has it show a newer one. */
const PAGES: readonly (readonly [what: string, path: string, change: string])[] = [
  ['a page, by its path', '/page-of-file', '/change?path=/page-of-file'],
  ['a page, by a tag of its data', '/data', '/change?tag=data'],
  ['a page that is made when it is asked for, by a tag of what it fetches', '/fetched/one', '/change?tag=fetched'],
  ['data of a page that is made for each request', '/dynamic', '/change?tag=dynamic'],
  ['a cached route handler, by its path', '/route', '/change?path=/route'],
  ['a page of the Pages Router, by res.revalidate()', '/old', '/api/revalidate?path=/old'],
]
const MEMORY: readonly (readonly [memory: string, on: boolean])[] = [
  ['without memory', false],
  ['with memory', true],
]

/** Registers the tests; with the socket of a Redis, the processes are of machines of their own. */
export function sharesCache(peers: Peers, counts: readonly number[] = [2, 4], redis?: string): void {
  let app: SharedApp
  let version = 0

  beforeAll(async () => {
    app = await sharedApp(peers)
  }, BUILD_TIMEOUT)
  afterAll(() => app.close())

  const start = (memory: boolean, count: number): Promise<SharingProcess[]> =>
    Promise.all(Array.from({ length: count }, () => startOne(memory)))
  const startOne = (responseCache: boolean): Promise<SharingProcess> =>
    app.start({ sharedCache: 'machine', responseCache }, redis)
  const end = (processes: readonly SharingProcess[]): Promise<unknown> =>
    Promise.all(processes.map((one) => one.kill()))
  const nth = (processes: readonly SharingProcess[], index: number): SharingProcess =>
    processes[index % processes.length]!

  describe.each(MEMORY)('%s', (_, memory) => {
    describe.each(counts)('with %i processes', (count) => {
      let processes: SharingProcess[]
      beforeAll(async () => {
        processes = await start(memory, count)
      }, BUILD_TIMEOUT)
      afterAll(() => end(processes))

      it.each(PAGES)('none shows the old one after a revalidation that has returned: %s', async (__, path, change) => {
        // Each has it, and has kept it.
        for (let turn = 0; turn < 3 * count; turn++) await nth(processes, turn).version(path)
        const stale: string[] = []
        for (let turn = 0; turn < 4; turn++) {
          app.setVersion(++version)
          await nth(processes, turn).change(change)
          for (let request = 0; request < 40; request += 4) {
            const shown = await Promise.all(
              Array.from({ length: 4 }, (___, index) => nth(processes, request + index + turn).version(path)),
            )
            for (const one of shown) if (one !== version) stale.push(`${one} in place of ${version}`)
          }
        }
        expect(stale).toEqual([])
      })

      it.runIf(memory)('serves responses from the cache', async () => {
        for (let turn = 0; turn < 4 * count; turn++) await nth(processes, turn).version('/page-of-file')
        for (const one of processes) expect((await one.counts()).hits).toBeGreaterThan(0)
      })

      it('renders a page once for all processes', async () => {
        const made = async (pause: number): Promise<number> => {
          app.setVersion(++version)
          await nth(processes, 0).change('/change?path=/page-of-file')
          const before = app.renders('page-of-file')
          expect(await nth(processes, 1).version('/page-of-file')).toBe(version)
          await wait(pause)
          for (let request = 0; request < 4 * count; request++) {
            expect(await nth(processes, request).version('/page-of-file')).toBe(version)
          }
          return app.renders('page-of-file') - before
        }
        // Next 15 answers before it stores what it has made.
        await expect.poll(() => made(peers === 'newest' ? 0 : 100), { timeout: 20_000 }).toBe(1)
      })
    })

    it('under load, serves no page that was revalidated before the request', async () => {
      const processes = await start(memory, 2)
      const until = Date.now() + 6000
      /** The version that was there when the last revalidation of a path has returned. */
      const least = new Map<string, number>()
      const stale: string[] = []
      let answers = 0
      let revalidations = 0
      // Longer on a slow machine.
      const isGoingOn = (): boolean => Date.now() < until || answers < 200
      const change = async (): Promise<void> => {
        for (let turn = 0; isGoingOn(); turn++) {
          const begun = Date.now()
          const [, path, how] = PAGES[turn % PAGES.length]!
          app.setVersion(++version)
          const now = version
          await nth(processes, turn).change(how)
          least.set(path, now)
          revalidations++
          await wait(Math.max(0, begun + 100 - Date.now()))
        }
      }
      const ask = async (client: number): Promise<void> => {
        for (let turn = client; isGoingOn(); turn++) {
          const [, path] = PAGES[(turn * 7 + client) % PAGES.length]!
          const expected = least.get(path) ?? 0
          const shown = await nth(processes, turn >> 1).version(path)
          answers++
          if (shown < expected) stale.push(`${path}: ${shown} in place of ${expected}`)
        }
      }
      await Promise.all([change(), ...Array.from({ length: 8 }, (__, client) => ask(client))])
      await end(processes)
      expect(stale).toEqual([])
      expect(revalidations).toBeGreaterThan(5)
    })

    it.each([
      ['the one that makes it', 0],
      ['another one', 1],
    ])('what was being made when %s revalidated it is shown to nobody who asks later', async (__, changing) => {
      const processes = await start(memory, 2)
      const [first, second] = [nth(processes, 0), nth(processes, 1)]
      /** Until one more render has read the version. */
      const begun = (page: string, before: number): Promise<void> =>
        expect.poll(() => app.renders(page), { timeout: 20_000 }).toBe(before + 1)

      await first.change('/change?path=/slow')
      app.setVersion(++version)
      let before = app.renders('slow')
      const made = first.version('/slow')
      await begun('slow', before)
      app.setVersion(++version)
      await nth(processes, changing).change('/change?path=/slow')
      expect(await Promise.all([first.version('/slow'), second.version('/slow')])).toEqual([version, version])
      // What was asked for before that may be the old one.
      expect(await made).toBeGreaterThanOrEqual(version - 1)
      expect(await Promise.all([first.version('/slow'), second.version('/slow')])).toEqual([version, version])

      // One that is shown stale, and made anew after it.
      await first.change('/api/revalidate?path=/slow-old')
      await wait(1100)
      app.setVersion(++version)
      before = app.renders('slow-old')
      await first.version('/slow-old')
      await begun('slow-old', before)
      app.setVersion(++version)
      await nth(processes, changing).change('/api/revalidate?path=/slow-old')
      expect(await Promise.all([first.version('/slow-old'), second.version('/slow-old')])).toEqual([version, version])
      await wait(1100)
      expect(await first.version('/slow-old')).toBe(version)
      await end(processes)
    })

    it('a process that is killed, and one that starts, change nothing', async () => {
      const processes = await start(memory, 2)
      const [first, second] = [nth(processes, 0), nth(processes, 1)]
      for (const [, path] of PAGES) await Promise.all([first.version(path), second.version(path)])
      app.setVersion(++version)
      for (const [, , change] of PAGES) await first.change(change)
      await first.kill()
      const third = await startOne(memory)
      for (const [, path] of PAGES) {
        // Who has missed it, and who was there.
        expect([path, await third.version(path), await second.version(path)]).toEqual([path, version, version])
      }
      app.setVersion(++version)
      for (const [, , change] of PAGES) await third.change(change)
      for (const [, path] of PAGES) expect([path, await second.version(path)]).toEqual([path, version])
      await end([second, third])
    })

    it.runIf(peers === 'newest')('regenerates a stale page once for all processes', async () => {
      const processes = await start(memory, 2)
      app.setVersion(++version)
      await nth(processes, 0).change('/change?tag=data')
      for (let turn = 0; turn < 6; turn++) expect(await nth(processes, turn).version('/data')).toBe(version)
      app.setVersion(++version)
      await nth(processes, 0).change('/change?tag=data&profile=max')
      // Whoever asks first gets the old one.
      expect(await nth(processes, 1).version('/data')).toBe(version - 1)
      while ((await nth(processes, 1).version('/data')) !== version) await wait(20)
      const shown = await Promise.all(Array.from({ length: 8 }, (__, index) => nth(processes, index).version('/data')))
      expect(shown).toEqual(shown.map(() => version))
      await end(processes)
    })
  })
}
