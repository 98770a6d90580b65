import { expect, it } from 'vitest'
import { summaryText } from '../../../src/cli/self-check-command.ts'
import { neighborsOf } from '../../../src/self-check/visible-effects.ts'

it('says so if no race of a self-check has measured a round', () => {
  const races = [{ rounds: [], metric: 'cpu' as const, alpha: 0.005 }]
  const counts = { tries: 1, held: 0, broken: 0, wrong: 0, falsePositiveRate: 0, isSuspect: false }
  const outcome = { ...counts, visible: [{ time: 10_000, ratio: Number.NaN }], neighbors: neighborsOf(races) }
  const text = summaryText(outcome, { atLeast: 1, alpha: 0.01 })
  expect(text).toContain('\n  smallest effect found in 80 % of races of 10 s: not enough data\n')
  expect(text).toMatch(/\n {2}neighbors: unknown, because no round was measured: raise --budget$/)
})
