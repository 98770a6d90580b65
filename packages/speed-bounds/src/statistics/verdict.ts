// The decision rule: the interval of a ratio is compared with the bound of a claim. All functions here are pure, so
// that simulations can test the rule.

import type { Claim } from '../options/resolved.ts'
import type { Metric } from '../options/types.ts'
import { compare, TRIMMED_SHARE } from './comparison.ts'
import { countRounds } from './counted-rounds.ts'
import type { Round } from './measured-round.ts'
import { halfWidth } from './samples.ts'

/** `holds`: the whole interval is at or above the bound. `broken`: the whole interval is below. Else `inconclusive`. */
export type Verdict = 'holds' | 'broken' | 'inconclusive'

/** How much better the contender is by one metric. */
export interface Estimate {
  readonly metric: Metric
  /** Above 1: the contender is better. */
  readonly ratio: number
  /** Bounds of the interval, whose error probability is the alpha spent on this look. */
  readonly low: number
  readonly high: number
  /** 1 less that probability. */
  readonly confidence: number
  /** Processes of the contender and of the other subject. */
  readonly replicas: readonly [number, number]
  /** Counted rounds of both subjects, and discarded ones. */
  readonly rounds: number
  readonly discarded: number
  readonly verdict: Verdict
  /** Throughput and p99 only: the generator limited more than a fifth of a process's rounds, so this proves nothing. */
  readonly generatorBound: boolean
  /** Throughput and p99 only: other programs took so much CPU that this proves nothing. */
  readonly disturbed: boolean
}

/** A claim judged on the rounds so far. */
export interface Decision {
  readonly claim: Claim
  readonly verdict: Verdict
  readonly estimates: readonly Estimate[]
  /** Estimated time until a first estimate, in milliseconds, if the budget ended before. */
  readonly missing?: number
}

/** Above this share of generator-bound rounds, the trimmed rest may still be generator-bound. */
const MAX_GENERATOR_BOUND = TRIMMED_SHARE

/** Metrics that a busy generator distorts, and that other programs do. */
const DISTORTED: readonly Metric[] = ['throughput', 'p99']

/**
 * Judges a claim by the rounds so far. Any metric may decide, so they share the alpha of the look: by Bonferroni's
 * inequality, the verdict is wrong with a probability of at most that.
 *
 * @param alpha - the part of the claim's alpha that this look may spend. By default it is the only look
 */
export function judge(claim: Claim, rounds: readonly Round[], alpha: number = claim.alpha): Decision {
  const intervalAlpha = alpha / claim.metrics.length
  const estimates = claim.metrics.flatMap((metric) => estimateRatio(claim, rounds, metric, intervalAlpha) ?? [])
  return { claim, verdict: combine(claim, estimates), estimates }
}

/** The rounds of a claim: both subjects and its case, in the stages that measured both. */
export function roundsOf({ contender, over, case: name }: Claim, rounds: readonly Round[]): Round[] {
  const own = rounds.filter((round) => round.case === name && [contender, over].includes(round.subject))
  return [...Map.groupBy(own, ({ stage }) => stage).values()]
    .filter((stage) => new Set(stage.map(({ subject }) => subject)).size === 2)
    .flat()
}

function combine(claim: Claim, estimates: readonly Estimate[]): Verdict {
  // CPU and throughput must both hold. If CPU can decide, distorted throughput is ignored. Alone it decides nothing.
  const decisive = estimates.filter(({ generatorBound, disturbed }) => !generatorBound && !disturbed)
  if (decisive.length === 0 || estimates.length < claim.metrics.length) return 'inconclusive'
  if (decisive.some(({ verdict }) => verdict === 'broken')) return 'broken'
  return decisive.every(({ verdict }) => verdict === 'holds') ? 'holds' : 'inconclusive'
}

function estimateRatio(claim: Claim, rounds: readonly Round[], metric: Metric, alpha: number): Estimate | undefined {
  const { contender, over, atLeast } = claim
  const all = roundsOf(claim, rounds)
  const countedRounds = countRounds(all)
  const { counted, isDisturbed } = countedRounds
  const compared = compare(countedRounds, contender, over, metric)
  if (!compared) return undefined
  const { difference, replicas } = compared
  const half = halfWidth(difference, alpha)
  const low = Math.exp(difference.difference - half)
  // JSON has no infinity. An interval that ends at the largest number says as little.
  const high = Math.min(Math.exp(difference.difference + half), Number.MAX_VALUE)
  return {
    metric,
    ratio: Math.exp(difference.difference),
    low,
    high,
    confidence: 1 - alpha,
    replicas,
    rounds: counted.length,
    discarded: all.length - counted.length,
    verdict: low >= atLeast ? 'holds' : high < atLeast ? 'broken' : 'inconclusive',
    generatorBound: DISTORTED.includes(metric) && isGeneratorBound(counted),
    disturbed: DISTORTED.includes(metric) && isDisturbed,
  }
}

/** Whether the generator limited too many rounds of any process. */
function isGeneratorBound(rounds: readonly Round[]): boolean {
  const processes = Map.groupBy(rounds, ({ subject, replica }) => `${subject}\n${replica}`)
  return [...processes.values()].some(
    (own) => own.filter(({ bottleneck }) => bottleneck === 'generator').length > MAX_GENERATOR_BOUND * own.length,
  )
}
