import type { ClaimOptions, Metric } from '../options/types.ts'
import type { Race } from '../race/race.ts'
import type { Decision, Verdict } from '../statistics/verdict.ts'
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

interface Interval {
  readonly ratio: number
  readonly low: number
  readonly high: number
  readonly confidence: number
}

export interface CaseJudgment {
  readonly verdict: CaseVerdict
  readonly gate: Verdict
  readonly interval: Interval | undefined
}

/**
 * Measures one case at both refs until the verdict is clear or the budget is spent. It decides two claims, which share
 * alpha: the head is not slower by more than the margin, and not faster by more than the margin.
 */
export async function judgeCase(match: Race, limits: CaseLimits): Promise<CaseJudgment> {
  const { margin, metric, alpha, budget, signal } = limits
  const [base, head] = match.subjects as [string, string]
  const common: Omit<ClaimOptions, 'atLeast' | 'contender'> = { metric, case: limits.case, alpha: alpha / 2, signal }
  const began = performance.now()
  const notSlower = await match.decide(base, { ...common, contender: head, atLeast: 1 - margin, budget })
  const ofHead = intervalOf(notSlower)
  if (notSlower.verdict === 'broken') return { verdict: 'slower', gate: 'broken', interval: ofHead }
  const left = Math.max(1, Math.round(budget - (performance.now() - began)))
  const notFaster = await match.decide(head, { ...common, contender: base, atLeast: 1 / (1 + margin), budget: left })
  const interval = inverse(intervalOf(notFaster)) ?? ofHead
  return { verdict: verdictOf(notSlower.verdict, notFaster.verdict, interval), gate: notSlower.verdict, interval }
}

function verdictOf(notSlower: Verdict, notFaster: Verdict, interval: Interval | undefined): CaseVerdict {
  if (notFaster === 'broken') return 'faster'
  if (notSlower === 'holds' && notFaster === 'holds') return 'within'
  // The difference is certain, and whether it exceeds the margin is not.
  if (interval !== undefined && interval.high < 1) return 'slower'
  if (interval !== undefined && interval.low > 1) return 'faster'
  return 'inconclusive'
}

function intervalOf({ estimates }: Decision): Interval | undefined {
  const [estimate] = estimates
  return estimate && { ratio: estimate.ratio, low: estimate.low, high: estimate.high, confidence: estimate.confidence }
}

function inverse(interval: Interval | undefined): Interval | undefined {
  if (interval === undefined) return undefined
  const { ratio, low, high, confidence } = interval
  // JSON has no infinity.
  return { ratio: 1 / ratio, low: 1 / high, high: Math.min(1 / low, Number.MAX_VALUE), confidence }
}
