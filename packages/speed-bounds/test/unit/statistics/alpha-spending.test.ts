import { describe, expect, it } from 'vitest'
import { AlphaSpending } from '../../../src/statistics/alpha-spending.ts'

const sum = (parts: readonly number[]): number => parts.reduce((total, part) => total + part, 0)

describe('AlphaSpending', () => {
  it('spends the whole alpha until the last look, and no more', () => {
    const spending = new AlphaSpending(0.01)
    const parts = [spending.ofFirstLook(), ...[0.3, 0.5, 0.9, 1, 1].map((share) => spending.ofLookAt(share))]
    expect(sum(parts)).toBeCloseTo(0.01, 12)
    expect(Math.min(...parts)).toBe(0)
  })

  it('spends 8 % at the first look, and the rest as the square of the time', () => {
    const spending = new AlphaSpending(1)
    expect(spending.ofFirstLook()).toBeCloseTo(0.08)
    expect(spending.ofLookAt(0.5)).toBeCloseTo(0.92 * 0.25)
    expect(spending.ofLookAt(1)).toBeCloseTo(0.92 * 0.75)
  })

  it('leaves all of it for a race with one look', () => {
    expect(new AlphaSpending(0.01).ofLookAt(1)).toBe(0.01)
  })

  it('spends nothing at a look that is not later than the one before', () => {
    const spending = new AlphaSpending(0.01)
    spending.ofLookAt(0.6)
    expect(spending.ofLookAt(0.4)).toBe(0)
  })

  it('takes a look after the end as the last one', () => {
    expect(new AlphaSpending(0.01).ofLookAt(1.2)).toBe(0.01)
  })
})
