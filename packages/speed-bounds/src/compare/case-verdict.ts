// The verdict of a comparison. All of its values are read from one interval, so together they are wrong with a probability
// of at most the interval's alpha.

import type { Estimate } from '../statistics/verdict.ts'
import type { CaseVerdict } from './comparison.ts'

type Interval = Pick<Estimate, 'low' | 'high' | 'generatorBound' | 'disturbed'>

/** Whether more rounds cannot change the verdict: the whole interval lies within the margin, or beyond it on one side. */
export function isClear(estimate: Interval | undefined, margin: number): boolean {
  if (!isDecisive(estimate)) return false
  return isWithin(estimate, margin) || estimate.high < 1 - margin || estimate.low > 1 + margin
}

/** A difference can be certain where it is not whether it exceeds the margin. */
export function caseVerdict(estimate: Interval | undefined, margin: number): CaseVerdict {
  if (!isDecisive(estimate)) return 'inconclusive'
  if (isWithin(estimate, margin)) return 'within'
  if (estimate.high < 1) return 'slower'
  return estimate.low > 1 ? 'faster' : 'inconclusive'
}

function isDecisive(estimate: Interval | undefined): estimate is Interval {
  return estimate !== undefined && !estimate.generatorBound && !estimate.disturbed
}

function isWithin({ low, high }: Interval, margin: number): boolean {
  return low >= 1 - margin && high <= 1 + margin
}
