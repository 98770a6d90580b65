// Random sequences of calls, for shared handlers of `'use cache'` and for Next's own, which is one of a single process.

import { createRequire } from 'node:module'
import { expect, vi } from 'vitest'
import type { UseCacheEntry, UseCacheHandler } from '../../src/next/use-cache/use-cache-handler.ts'

const require = createRequire(import.meta.url)
const { createDefaultCacheHandler } = require('next/dist/server/lib/cache-handlers/default') as {
  createDefaultCacheHandler: (maxBytes: number) => UseCacheHandler
}

/** A clock that all handlers of this process read. */
export interface Clock {
  time: number
}

/** Replaces the clocks of this process. Restore the mocks after the test. */
export function fakeClock(): Clock {
  const clock = { time: Date.now() }
  vi.spyOn(performance, 'now').mockImplementation(() => clock.time - performance.timeOrigin)
  vi.spyOn(Date, 'now').mockImplementation(() => clock.time)
  return clock
}

export function streamOf(text: string): ReadableStream<Uint8Array> {
  return new Blob([text]).stream() as ReadableStream<Uint8Array>
}

/** What a handler returned, with its text. */
export async function read(entry: UseCacheEntry | undefined): Promise<object | undefined> {
  if (entry === undefined) return undefined
  const { value, ...rest } = entry
  return { ...rest, text: await new Response(value).text() }
}

/** Numbers from 0 to 1 by a seed. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

interface Update {
  readonly at: number
  readonly expire: number | undefined
  readonly isStale: boolean
}

let sequences = 0

/** Runs a sequence, and returns how many reads were compared, and how many of them found an entry. */
export async function compareWithNext(
  processes: readonly UseCacheHandler[],
  clock: Clock,
  seed: number,
  steps: number,
): Promise<{ compared: number; found: number }> {
  const next = createDefaultCacheHandler(50 * 1024 * 1024)
  const chance = random(seed)
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)]!
  const someOf = <T>(list: readonly T[]): T[] => list.filter(() => chance() < 0.4)
  // Next's own map of tags is one for the process.
  const sequence = sequences++
  const [keys, tags, soft] = ['key', 'tag', '_N_T_/'].map((name) =>
    [0, 1, 2].map((index) => `${sequence}-${name}${index}`),
  )
  const updates = new Map<string, Update[]>()
  const set = async (text: string): Promise<void> => {
    const key = oneOf(keys!)
    // Never at the time of a revalidation.
    const begun = clock.time - (chance() < 0.3 ? Math.floor(chance() * 8000) + 0.5 : 0)
    const times = { stale: 30, timestamp: begun, expire: oneOf([0, 60, 3600]), revalidate: oneOf([5, 50, 1000]) }
    const entry = { ...times, tags: someOf(tags!) }
    for (const handler of [oneOf(processes), next]) {
      await handler.set(key, Promise.resolve({ ...entry, tags: [...entry.tags], value: streamOf(text) }))
    }
  }
  const update = async (): Promise<void> => {
    const isPath = chance() < 0.3
    const changed = someOf(isPath ? soft! : tags!)
    // Next has durations for tags only.
    const durations = isPath ? undefined : oneOf([undefined, {}, { expire: 10 }, { expire: 100 }])
    for (const tag of changed) {
      const all = updates.get(tag) ?? []
      all.push({ at: clock.time, expire: durations?.expire, isStale: durations !== undefined })
      updates.set(tag, all)
    }
    for (const handler of [oneOf(processes), next]) await handler.updateTags(changed, durations)
    // A process that has not read it yet treats entries that were begun since then as older ones.
    for (const handler of processes) await handler.refreshTags()
  }
  let compared = 0
  let found = 0
  const get = async (): Promise<void> => {
    const [key, softTags] = [oneOf(keys!), someOf(soft!)]
    const expected = await next.get(key, softTags)
    const expiration = await next.getExpiration(softTags)
    const isDiscarded = expected !== undefined && expected.timestamp <= expiration
    for (const handler of processes) {
      await handler.refreshTags()
      const entry = await handler.get(key, softTags)
      const known = entry ?? expected
      if (known !== undefined && isOwnWay(known, updates, clock.time)) continue
      compared++
      if (entry !== undefined) found++
      const wanted = isDiscarded
        ? undefined
        : await read(expected && { ...expected, value: (await next.get(key, []))!.value })
      expect({ seed, compared, entry: await read(entry) }).toEqual({ seed, compared, entry: wanted })
    }
  }
  for (let step = 0; step < steps; step++) {
    clock.time += 1 + Math.floor(chance() * (chance() < 0.1 ? 30_000 : 2000))
    const choice = chance()
    if (choice < 0.35) await set(`text ${step}`)
    else if (choice < 0.5) await update()
    else await get()
  }
  return { compared, found }
}

/**
 * Whether Next's own handler forgets something: it has one time of expiry for each tag, so a later one replaces an earlier one,
 * and an entry that was made before that time expires even if it was made after the revalidation.
 */
function isOwnWay(
  { tags, timestamp }: UseCacheEntry,
  updates: ReadonlyMap<string, readonly Update[]>,
  now: number,
): boolean {
  return tags.some((tag) => {
    const all = updates.get(tag) ?? []
    const after = all.filter(({ at }) => at > timestamp)
    const isReplaced = all.some(({ expire }, index) => expire !== undefined && index > 0) && after.length > 0
    const expiresLater = all.some(
      ({ at, expire }) => at <= timestamp && expire !== undefined && at + expire * 1000 > timestamp,
    )
    return isReplaced || (expiresLater && all.length > 0 && now > timestamp)
  })
}
