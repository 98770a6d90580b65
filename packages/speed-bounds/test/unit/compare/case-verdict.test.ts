import { describe, expect, it } from 'vitest'
import { caseVerdict, isClear } from '../../../src/compare/case-verdict.ts'

const MARGIN = 0.05
const estimate = (low: number, high: number) => ({ low, high, generatorBound: false, disturbed: false })

describe('caseVerdict', () => {
  it.each([
    { low: 0.8, high: 0.94, verdict: 'slower', clear: true },
    { low: 0.8, high: 0.99, verdict: 'slower', clear: false },
    { low: 0.96, high: 0.99, verdict: 'within', clear: true },
    { low: 0.95, high: 1.05, verdict: 'within', clear: true },
    { low: 0.94, high: 1.04, verdict: 'inconclusive', clear: false },
    { low: 0.96, high: 1.06, verdict: 'inconclusive', clear: false },
    { low: 1.01, high: 1.2, verdict: 'faster', clear: false },
    { low: 1.06, high: 1.2, verdict: 'faster', clear: true },
  ])('is $verdict from $low to $high, final: $clear', ({ low, high, verdict, clear }) => {
    expect(caseVerdict(estimate(low, high), MARGIN)).toBe(verdict)
    expect(isClear(estimate(low, high), MARGIN)).toBe(clear)
  })

  it.each([
    { what: 'without an estimate', of: undefined },
    { what: 'if the generator was the bottleneck', of: { ...estimate(0.5, 0.6), generatorBound: true } },
    { what: 'if other programs took the CPU', of: { ...estimate(0.5, 0.6), disturbed: true } },
  ])('is inconclusive $what', ({ of }) => {
    expect(caseVerdict(of, MARGIN)).toBe('inconclusive')
    expect(isClear(of, MARGIN)).toBe(false)
  })
})
