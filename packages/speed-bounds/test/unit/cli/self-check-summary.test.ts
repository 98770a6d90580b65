import { expect, it } from 'vitest'
import { exitCodeOf, summaryText } from '../../../src/cli/self-check-command.ts'
import { neighborsOf } from '../../../src/self-check/visible-effects.ts'

const races = [{ rounds: [], metric: 'cpu' as const, alpha: 0.005 }]
const counts = { tries: 1, held: 0, broken: 0, wrong: 0, falsePositiveRate: 0, isSuspect: false }
const outcome = { ...counts, visible: [{ time: 10_000, ratio: Number.NaN }], neighbors: neighborsOf(races) }

it('says so if no race of a self-check has measured a round', () => {
  const text = summaryText(outcome, { atLeast: 1, alpha: 0.01 })
  expect(text).toContain('\n  smallest effect found in 80 % of races of 10 s: not enough data\n')
  expect(text).toMatch(/\n {2}neighbors: unknown, because no round was measured: raise --budget$/)
})

it.each([
  ['without a round', outcome, 1, 3],
  ['with rounds', { ...outcome, neighbors: { foreignCpu: 0.1, discarded: 0 } }, 1, 0],
  ['with too many wrong verdicts', { ...outcome, isSuspect: true }, 1, 1],
  ['with a bound that holds', { ...outcome, held: 1 }, 1.5, 1],
])('ends a self-check %s with its exit code', (_title, result, atLeast, code) => {
  expect(exitCodeOf(result, { atLeast })).toBe(code)
})
