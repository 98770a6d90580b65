import type { Metric } from '../options/types.ts'
import type { ComparingRace } from '../race/race.ts'
import type { Estimate, Verdict } from '../statistics/verdict.ts'
import { caseVerdict, isClear } from './case-verdict.ts'
import type { CaseVerdict } from './comparison.ts'

/** Limits of the comparison of one case. Times are in milliseconds. */
export interface CaseLimits {
  readonly case: string
  readonly metric: Metric
  readonly margin: number
  readonly alpha: number
  readonly budget: number
  readonly signal: AbortSignal
}

export interface CaseJudgment {
  readonly verdict: CaseVerdict
  /** The claim that the head is not slower by more than the margin. */
  readonly gate: Verdict
  readonly interval: Pick<Estimate, 'ratio' | 'low' | 'high' | 'confidence'> | undefined
}

/** Measures one case at both refs until the verdict is clear or the budget is spent. */
export async function judgeCase(match: ComparingRace, limits: CaseLimits): Promise<CaseJudgment> {
  const { margin, metric, alpha, budget, signal } = limits
  const [base, head] = match.subjects as [string, string]
  const notSlower = { metric, case: limits.case, alpha, budget, signal, contender: head, atLeast: 1 - margin }
  const decision = await match.decideWhen(base, notSlower, ({ estimates }) => isClear(estimates[0], margin))
  const [estimate] = decision.estimates
  return { verdict: caseVerdict(estimate, margin), gate: decision.verdict, interval: intervalOf(estimate) }
}

function intervalOf(estimate: Estimate | undefined): CaseJudgment['interval'] {
  if (estimate === undefined) return undefined
  const { ratio, low, high, confidence } = estimate
  return { ratio, low, high, confidence }
}
