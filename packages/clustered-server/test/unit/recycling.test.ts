import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Recycling } from '../../src/primary/recycling.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const idle = { connections: 0, requests: 0, rss: 0, heapUsed: 0, utilization: 0 }
const worker = (stats: Partial<typeof idle> = {}): { stats: typeof idle; activeAt: number } => ({
  stats: { ...idle, ...stats },
  activeAt: performance.now(),
})
/** How many of many workers are due with such statistics. */
const dueWith = (recycling: Recycling, stats: Partial<typeof idle>): number =>
  Array.from({ length: 500 }, () => worker(stats)).filter((one) => recycling.next([one]) !== undefined).length

describe('Recycling', () => {
  it.each([
    { limit: { requests: 1000 }, figure: 'requests', reason: 'requests' },
    { limit: { rss: 1000 }, figure: 'rss', reason: 'rss' },
    { limit: { heap: 1000 }, figure: 'heapUsed', reason: 'heap' },
  ])('$reason: due from nine tenths of the limit on, and at the limit in any case', ({ limit, figure, reason }) => {
    const recycling = new Recycling(limit)
    expect(dueWith(recycling, { [figure]: 899 })).toBe(0)
    expect(dueWith(recycling, { [figure]: 1000 })).toBe(500)
    const some = dueWith(recycling, { [figure]: 950 })
    expect(some).toBeGreaterThan(100)
    expect(some).toBeLessThan(400)
    const one = worker({ [figure]: 1000 })
    expect(recycling.next([worker(), one])).toEqual({ worker: one, reason })
  })

  it('age: counts from when a worker accepts connections', () => {
    const recycling = new Recycling({ age: 1000 })
    vi.advanceTimersByTime(100_000)
    const one = worker()
    vi.advanceTimersByTime(899)
    expect(recycling.next([one])).toBeUndefined()
    vi.advanceTimersByTime(101)
    expect(recycling.next([one])).toEqual({ worker: one, reason: 'age' })
  })

  it('does not change the limit of a worker', () => {
    const recycling = new Recycling({ requests: 1000 })
    const one = worker({ requests: 950 })
    const isDue = recycling.next([one]) !== undefined
    for (let look = 0; look < 100; look++) expect(recycling.next([one]) !== undefined).toBe(isDue)
  })

  it('never recycles without a limit', () => {
    const everything = { requests: 1e9, rss: 1e12, heapUsed: 1e12 }
    expect(dueWith(new Recycling({}), everything)).toBe(0)
    expect(dueWith(new Recycling({ age: 1000 }), everything)).toBe(0)
  })

  it('waits for a second after a replacement', async () => {
    const recycling = new Recycling({ requests: 1 })
    const all = [worker({ requests: 1 })]
    const { promise, resolve } = Promise.withResolvers<void>()
    const end = recycling.during(promise)
    vi.advanceTimersByTime(60_000)
    expect(recycling.next(all)).toBeUndefined()
    resolve()
    await end
    vi.advanceTimersByTime(999)
    expect(recycling.next(all)).toBeUndefined()
    vi.advanceTimersByTime(1)
    expect(recycling.next(all)).toBeDefined()
  })

  it('waits for ten seconds after a failed replacement', async () => {
    const recycling = new Recycling({ requests: 1 })
    await recycling.during(Promise.reject(new Error('no')))
    vi.advanceTimersByTime(9999)
    expect(recycling.next([worker({ requests: 1 })])).toBeUndefined()
    vi.advanceTimersByTime(1)
    expect(recycling.next([worker({ requests: 1 })])).toBeDefined()
  })
})
