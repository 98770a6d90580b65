import { describe, expect, it } from 'vitest'
import {
  detectable,
  halfWidth,
  median,
  moderated,
  sampleOf,
  trimmedMean,
  welch,
} from '../../../src/statistics/samples.ts'

describe('trimmedMean', () => {
  it('cuts the share at both ends, rounded down', () => {
    expect(trimmedMean([100, 1, 2, 3, -100], 0.2)).toBe(2)
    expect(trimmedMean([100, 1, 2, 3], 0.2)).toBe(26.5)
  })

  it('weights the values between the trimmed ends', () => {
    expect(trimmedMean([100, 1, 2, 4, -100], 0.2, [9, 1, 1, 2, 9])).toBe(2.75)
  })

  it('does not reorder its input', () => {
    const values = [3, 1, 2]
    trimmedMean(values, 0.2)
    expect(values).toEqual([3, 1, 2])
  })
})

describe('median', () => {
  it('is the middle value, or the mean of the two middle ones', () => {
    expect(median([5, 1, 3])).toBe(3)
    expect(median([4, 1, 3, 2])).toBe(2.5)
  })
})

describe('sampleOf', () => {
  it('has the unbiased variance', () => {
    expect(sampleOf([2, 4, 4, 4, 5, 5, 7, 9], 0)).toEqual({ mean: 5, variance: 32 / 7, size: 8, degreesOfFreedom: 7 })
  })

  it('has at least the minimum deviation', () => {
    expect(sampleOf([1, 1, 1], 0.01).variance).toBeCloseTo(0.0001, 12)
  })
})

describe('moderated', () => {
  it('weights both variances by their degrees of freedom', () => {
    const prior = { variance: 4, degreesOfFreedom: 6 }
    expect(moderated(sampleOf([1, 2, 3], 0), prior)).toEqual({
      mean: 2,
      variance: 26 / 8,
      size: 3,
      degreesOfFreedom: 8,
    })
  })
})

describe('welch', () => {
  // The figures of the third example at https://en.wikipedia.org/wiki/Welch%27s_t-test
  const a = [19.8, 20.4, 19.6, 17.8, 18.5, 18.9, 18.3, 18.9, 19.5, 22.0]
  const b = [
    28.2, 26.6, 20.1, 23.3, 25.2, 22.1, 17.7, 27.6, 20.6, 13.7, 23.2, 17.5, 20.6, 18.0, 23.9, 21.6, 24.3, 20.4, 24.0,
    13.2,
  ]

  it('has the t and the degrees of freedom of a published example', () => {
    const { difference, standardError, degreesOfFreedom } = welch(sampleOf(a, 0), sampleOf(b, 0))
    expect(difference / standardError).toBeCloseTo(2.22, 2)
    expect(degreesOfFreedom).toBeCloseTo(24.5, 1)
  })

  it('is the pooled t for equal variances and sizes', () => {
    const { standardError, degreesOfFreedom } = welch(sampleOf([1, 2, 3], 0), sampleOf([11, 12, 13], 0))
    expect(standardError).toBeCloseTo(Math.sqrt(2 / 3), 12)
    expect(degreesOfFreedom).toBeCloseTo(4, 12)
  })
})

describe('halfWidth', () => {
  // Critical values of Student's t, two-sided, from NIST/SEMATECH e-Handbook, 1.3.6.7.2.
  it.each([
    [0.1, 5, 2.015],
    [0.05, 10, 2.228],
    [0.02, 8, 2.896],
    [0.01, 20, 2.845],
    [0.002, 4, 7.173],
    [0.002, 100, 3.174],
  ])('is the critical value for alpha %d with %d degrees of freedom', (alpha, degreesOfFreedom, critical) => {
    expect(halfWidth({ difference: 0, standardError: 1, degreesOfFreedom }, alpha)).toBeCloseTo(critical, 3)
  })
})

describe('detectable', () => {
  it('adds the quantile of the power to that of the test', () => {
    // 2.086 and 0.860 are t quantiles at 0.975 and 0.8 with 20 degrees of freedom.
    expect(detectable({ difference: 0, standardError: 2, degreesOfFreedom: 20 }, 0.05, 0.8)).toBeCloseTo(
      2 * (2.086 + 0.86),
      2,
    )
  })
})
