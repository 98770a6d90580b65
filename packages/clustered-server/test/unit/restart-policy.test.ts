import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { RestartPolicy } from '../../src/primary/restart-policy.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** The delays after deaths in a row, each of a worker that was started after the one before had died. */
function delays(policy: RestartPolicy, deaths: number, lived = 50): number[] {
  return Array.from({ length: deaths }, () => {
    vi.advanceTimersByTime(lived)
    return policy.delayAfter(lived)
  })
}

describe('RestartPolicy', () => {
  it('restarts immediately after the first death, then with delays doubled up to 30 s', () => {
    const [first, ...others] = delays(new RestartPolicy(), 14)
    expect(first).toBe(0)
    for (const [index, delay] of others.entries()) {
      const middle = Math.min(100 * 2 ** index, 30_000)
      expect(delay).toBeGreaterThanOrEqual(middle * 0.75)
      expect(delay).toBeLessThanOrEqual(middle * 1.25)
    }
  })

  it('spreads delays by a quarter in both directions', () => {
    const all = Array.from({ length: 500 }, () => delays(new RestartPolicy(), 2)[1]!)
    expect(Math.min(...all)).toBeGreaterThanOrEqual(75)
    expect(Math.max(...all)).toBeLessThanOrEqual(125)
    expect(Math.min(...all)).toBeLessThan(80)
    expect(Math.max(...all)).toBeGreaterThan(120)
  })

  it('reports a crash loop after ten deaths in a row', () => {
    const policy = new RestartPolicy()
    delays(policy, 9)
    expect(policy).toMatchObject({ deaths: 9, isLoop: false })
    delays(policy, 1)
    expect(policy).toMatchObject({ deaths: 10, isLoop: true })
  })

  it('restarts the count after a lifetime of ten seconds', () => {
    const policy = new RestartPolicy()
    delays(policy, 9)
    expect(delays(policy, 1, 9_999)).not.toEqual([0])
    policy.reset()
    delays(policy, 9)
    expect(delays(policy, 1, 10_000)).toEqual([0])
    expect(policy).toMatchObject({ deaths: 1, isLoop: false })
  })

  it('only a reset ends a crash loop', () => {
    const policy = new RestartPolicy()
    delays(policy, 10)
    delays(policy, 1, 60_000)
    expect(policy.isLoop).toBe(true)
    policy.reset()
    expect(policy).toMatchObject({ deaths: 0, isLoop: false })
    expect(delays(policy, 1)).toEqual([0])
  })

  it('counts simultaneous deaths once', () => {
    const policy = new RestartPolicy()
    vi.advanceTimersByTime(5000)
    // All of them were started before the first of them died.
    for (let worker = 0; worker < 64; worker++) {
      expect(policy.delayAfter(5000 + worker)).toBe(0)
      vi.advanceTimersByTime(1)
    }
    expect(policy.deaths).toBe(1)
    expect(delays(policy, 1)[0]).toBeGreaterThanOrEqual(75)
    expect(policy.deaths).toBe(2)
  })
})
