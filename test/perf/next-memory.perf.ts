// The memory of 500 cached pages: resident memory of next-on-fastify over that of `next start`, which caches them too.

import { mkdirSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { afterEach, expect, it } from 'vitest'
import { endSubjects, startSubject } from '../running-subjects.ts'
import { build, BUILD_TIMEOUT, copiesOfBuild, subjects } from '../suites/next.ts'
import { limits } from './bounds.ts'
import { residentMemory } from './resident-memory.ts'

const PAGES = 500
/** Requests per page, plain and compressed. By then both servers have found the size of their heap. */
const TURNS = 4
const PROCESSES = 5
/** Concurrent requests. */
const AT_ONCE = 10
/** Milliseconds for work after the last response. */
const SETTLE = 3000

const race = { 'next-on-fastify': subjects['next-on-fastify'], 'next-start': subjects['next-start'] }
const results = new URL('../../results/next-memory/', import.meta.url)

afterEach(endSubjects)

it.runIf(process.platform === 'linux')(
  `${PAGES} pages: resident memory is at most ${limits.pagesMemory} times that of next start`,
  { timeout: BUILD_TIMEOUT * 2 },
  async ({ annotate }) => {
    await build()
    const names = Object.keys(race) as (keyof typeof race)[]
    const { dirs, remove } = await copiesOfBuild('base', names.length)
    const empty = new Map(names.map((name) => [name, [] as number[]]))
    const full = new Map(names.map((name) => [name, [] as number[]]))
    try {
      for (let round = 0; round < PROCESSES; round++) {
        for (const [index, name] of names.entries()) {
          const { file, env } = race[name]
          const { child, origin } = await startSubject(file, { env: { ...env, NEXT_DIR: dirs[index]! } })
          await visit(`${origin}/static`, {})
          await sleep(SETTLE)
          empty.get(name)!.push(residentMemory(child.pid!) / 1e6)
          for (let turn = 0; turn < TURNS; turn++) {
            await eachPage((page) => visit(`${origin}/many/${page}`, {}))
            await eachPage((page) => visit(`${origin}/many/${page}`, { 'accept-encoding': 'gzip' }))
          }
          await sleep(SETTLE)
          full.get(name)!.push(residentMemory(child.pid!) / 1e6)
          const { body } = await request(`${origin}/fastify/stats`)
          const stats = (await body.json().catch(() => ({}))) as { responseCache?: { entries: number } }
          const { entries } = stats.responseCache ?? { entries: 0 }
          // Each page in two content encodings, and none without a response cache.
          expect(entries).toBe(name === 'next-on-fastify' ? PAGES * 2 + 1 : 0)
          endSubjects()
        }
      }
    } finally {
      await remove()
    }
    mkdirSync(results, { recursive: true })
    const figures = { empty: Object.fromEntries(empty), full: Object.fromEntries(full) }
    writeFileSync(new URL('memory.json', results), `${JSON.stringify(figures, null, 2)}\n`)
    const ratioOf = (of: ReadonlyMap<string, readonly number[]>): number => {
      const [ours, theirs] = names.map((name) => median(of.get(name)!))
      return ours! / theirs!
    }
    for (const [when, of] of Object.entries({ 'with one page': empty, [`with ${PAGES} pages`]: full })) {
      const [ours, theirs] = names.map((name) =>
        of
          .get(name)!
          .map((value) => value.toFixed(0))
          .join(', '),
      )
      await annotate(`${when}: ${ratioOf(of).toFixed(2)}x, ${ours} MB against ${theirs} MB`, 'evidence')
    }
    expect(ratioOf(full)).toBeLessThanOrEqual(limits.pagesMemory)
  },
)

async function eachPage(ask: (page: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < PAGES; from += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => ask(from + index)))
  }
}

async function visit(url: string, headers: Record<string, string>): Promise<void> {
  const { statusCode, body } = await request(url, { headers })
  await body.dump()
  expect(statusCode).toBe(200)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
