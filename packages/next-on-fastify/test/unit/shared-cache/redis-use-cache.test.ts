// The cache of `'use cache'` in a Redis, compared with the handler of Next, as shared-use-cache.test.ts does for files.

import { isMissing, redisServer } from '@test/redis-server'
import type { FastifyBaseLogger } from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { UseCacheHandler } from '../../../src/next/use-cache/use-cache-handler.ts'
import { Availability } from '../../../src/shared-cache/outage-log.ts'
import { RedisChanges, RedisEntries } from '../../../src/shared-cache/redis-store.ts'
import { SharedCache } from '../../../src/shared-cache/shared-cache.ts'
import { SharedUseCache } from '../../../src/shared-cache/shared-use-cache.ts'
import { connectToRedis, type RedisConnection } from '../../helpers/redis-connection.ts'
import { compareWithNext, fakeClock } from '../../helpers/use-cache-differential.ts'

describe.skipIf(isMissing)('random sequences give the same entries as the handler of Next', () => {
  const redis = redisServer()
  const connections: RedisConnection[] = []
  let fails: ReturnType<typeof vi.fn<(fields: object, message: string) => void>>

  beforeAll(async () => {
    connections.push(...(await Promise.all([1, 2, 3].map(() => connectToRedis(redis.path)))))
  })
  afterEach(() => vi.restoreAllMocks())
  afterAll(() => {
    for (const one of connections) one.close()
  })

  /** The handlers of machines with one Redis, each with a connection of its own. */
  function handlers(count: number, prefix: string): UseCacheHandler[] {
    fails = vi.fn<(fields: object, message: string) => void>()
    const log = { error: fails, info: () => {} } as unknown as FastifyBaseLogger
    return connections.slice(0, count).map(({ send }) => {
      const cache = new SharedCache(
        (reader) => ({
          changes: new RedisChanges(send, `${prefix}changes`, reader),
          entries: new RedisEntries(send, prefix),
        }),
        () => {},
      )
      const store = { entries: new RedisEntries(send, `${prefix}use-cache:`), maxEntryBytes: 1_000_000 }
      return new SharedUseCache(cache, store, new Availability(log, { works: '', fails: 'fails' }), 1_000_000)
    })
  }

  it.each([
    ['one machine', 1],
    ['three machines', 3],
  ])('%s', { timeout: 120_000 }, async (_, count) => {
    const clock = fakeClock()
    const machines = handlers(count, `${count}:`)
    let [compared, found] = [0, 0]
    for (let seed = 0; seed < 20; seed++) {
      const counts = await compareWithNext(machines, clock, seed, 100)
      compared += counts.compared
      found += counts.found
    }
    expect(fails).not.toHaveBeenCalled()
    expect(compared).toBeGreaterThan(250 * count)
    expect(found).toBeGreaterThan(25 * count)
  })
})
