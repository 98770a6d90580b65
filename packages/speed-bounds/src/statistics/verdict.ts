// From rounds to a verdict, by pure functions, so that simulations can test the rules. The process is the sampling
// unit, because processes of the same code differ by 1-3 %, or fall into two modes. Welch's t compares the log costs of
// both samples, and the interval of the ratio is held against the bound. See docs/measurements.md#processes-differ

import { costOf, type Measure, type Round } from './round.ts'
import type { Claim, Metric } from '../options/resolve.ts'
import {
  correlation,
  type Difference,
  halfWidth,
  median,
  type Sample,
  sampleOf,
  trimmedMean,
  welch,
} from './samples.ts'

/** `holds`: the whole interval is at or above the bound; `broken`: all of it is below; else `inconclusive`. */
export type Verdict = 'holds' | 'broken' | 'inconclusive'

/** How much better the contender is by one metric. */
export interface Estimate {
  readonly metric: Metric
  /** Above 1: the contender is better. */
  readonly ratio: number
  /** Ends of the interval that misses the true ratio with at most the probability spent on this look. */
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
  /** For throughput and p99: the generator limited more than a fifth of a process's rounds, so this proves nothing. */
  readonly generatorBound: boolean
}

/** A claim judged on the rounds so far. */
export interface Judgement {
  readonly claim: Claim
  readonly verdict: Verdict
  readonly estimates: readonly Estimate[]
}

/** Share of a process's rounds that is trimmed at each end. */
const TRIM = 0.2

/**
 * Minimum standard deviation between processes. Identical code differs by 1-3 %, and a few processes can show less by
 * chance. See docs/measurements.md#processes-differ
 */
const LEAST_SPREAD = 0.01

/**
 * Only above this correlation does pairing make a difference less noisy. With fewer heats, chance shows one too often.
 */
const SHARED = { LEAST: 0.5, HEATS: 10 }

/** Above this share of generator-bound rounds, the trimmed rest may still be generator-bound. */
const GENERATOR_BOUND_ALLOWED = TRIM

/** Metrics that a busy generator distorts. */
const SEEN_BY_GENERATOR: readonly Metric[] = ['throughput', 'p99']

/**
 * Judges a claim by the rounds so far. Any look may be the last one, and any metric may decide. So alpha is divided by
 * the possible looks and the metrics: by Bonferroni's inequality, the verdict is wrong with a probability of at most
 * alpha.
 */
export function judge(claim: Claim, rounds: readonly Round[]): Judgement {
  const estimates = claim.metrics.flatMap((metric) => estimateRatio(claim, rounds, metric) ?? [])
  return { claim, verdict: combine(claim, estimates), estimates }
}

/** The probability with which one interval of one look may miss the true ratio. */
export function intervalAlpha({ alpha, looks, metrics }: Claim): number {
  return alpha / (looks * metrics.length)
}

function combine(claim: Claim, estimates: readonly Estimate[]): Verdict {
  // CPU and throughput must both hold. Generator-bound throughput is set aside when CPU can decide in its place; alone
  // it decides nothing.
  const decisive = estimates.filter(({ generatorBound }) => !generatorBound)
  if (decisive.length === 0 || estimates.length < claim.metrics.length) return 'inconclusive'
  if (decisive.some(({ verdict }) => verdict === 'broken')) return 'broken'
  return decisive.every(({ verdict }) => verdict === 'holds') ? 'holds' : 'inconclusive'
}

/** The rounds of a claim: both subjects and its case, in the stages that measured both. */
export function roundsOf({ contender, over, case: kase }: Claim, rounds: readonly Round[]): Round[] {
  const own = rounds.filter((round) => round.case === kase && [contender, over].includes(round.subject))
  return [...Map.groupBy(own, ({ stage }) => stage).values()]
    .filter((stage) => new Set(stage.map(({ subject }) => subject)).size === 2)
    .flat()
}

function estimateRatio(claim: Claim, rounds: readonly Round[], metric: Metric): Estimate | undefined {
  const { contender, over, atLeast } = claim
  const alpha = intervalAlpha(claim)
  const all = roundsOf(claim, rounds)
  const kept = all.filter((round) => !round.discarded)
  const compared = compare(kept, contender, over, metric)
  if (!compared) return undefined
  const { difference, replicas } = compared
  const half = halfWidth(difference, alpha)
  const low = Math.exp(difference.difference - half)
  // JSON has no infinity. An interval that ends at the largest number says as little.
  const high = Math.min(Math.exp(difference.difference + half), Number.MAX_VALUE)
  const processes = Map.groupBy(kept, ({ subject, replica }) => `${subject}\n${replica}`)
  const isGeneratorBound = (visits: readonly Round[]): boolean =>
    visits.filter(({ bottleneck }) => bottleneck === 'generator').length > GENERATOR_BOUND_ALLOWED * visits.length
  return {
    metric,
    ratio: Math.exp(difference.difference),
    low,
    high,
    confidence: 1 - alpha,
    replicas,
    rounds: kept.length,
    discarded: all.length - kept.length,
    verdict: low >= atLeast ? 'holds' : high < atLeast ? 'broken' : 'inconclusive',
    generatorBound: SEEN_BY_GENERATOR.includes(metric) && [...processes.values()].some(isGeneratorBound),
  }
}

/** A round of a process, and the log cost of comparable rounds at that time. */
interface Visit {
  readonly round: Round
  readonly level: number
}

/**
 * The log cost of a process. CPU and throughput weight each response alike, not each round: a hypervisor can leave a
 * round few responses. See docs/measurements.md#weight-by-responses
 */
export function costOfProcess(visits: readonly Visit[], measure: Measure): number {
  const costs = visits.map(({ round, level }) => Math.log(costOf(round, measure)) - level)
  if (measure !== 'cpu' && measure !== 'throughput') return trimmedMean(costs, TRIM)
  return Math.log(
    trimmedMean(
      costs.map(Math.exp),
      TRIM,
      visits.map(({ round }) => round.answers),
    ),
  )
}

/** Rounds with turns, grouped by heat. */
function byHeat(visits: readonly Visit[]): Visit[][] {
  return [...Map.groupBy(visits, ({ round }) => `${round.stage}/${round.cycle}/${round.heat}`).values()]
}

/**
 * How far the costs of alternating processes rise and fall together within their cycles: Pearson's r, or 0 with too few
 * heats.
 */
function sharedByHeats(visits: readonly Visit[], contender: string, metric: Metric): number {
  const cost = ({ round, level }: Visit): number => Math.log(costOf(round, metric)) - level
  const pairs = byHeat(visits).filter(({ length }) => length === 2)
  if (pairs.length < SHARED.HEATS) return 0
  const costsOf = (isContender: boolean): number[] =>
    pairs.map((heat) => cost(heat.find(({ round }) => (round.subject === contender) === isContender)!))
  return correlation(costsOf(true), costsOf(false))
}

/**
 * Rounds less the cost of the other round of their heat: alternating processes share the changing speed of a core. If
 * the other round is discarded, this one says nothing. See docs/measurements.md#slow-core
 */
function besideOther(visits: readonly Visit[], metric: Metric): Visit[] {
  return byHeat(visits).flatMap(([one, other]) =>
    one && other
      ? [
          { round: one.round, level: Math.log(costOf(other.round, metric)) },
          { round: other.round, level: Math.log(costOf(one.round, metric)) },
        ]
      : [],
  )
}

/**
 * Rounds less the level of their cycle, which removes the state of the machine. A cycle that lost all rounds of one
 * subject says nothing about the ratio.
 */
function besideCycle(rounds: readonly Round[], contender: string, over: string, metric: Metric): Visit[] {
  return [...Map.groupBy(rounds, ({ stage, cycle }) => `${stage}/${cycle}`).values()].flatMap((cycle) => {
    const levels = [contender, over].map((name) =>
      cycle.filter(({ subject }) => subject === name).map((round) => Math.log(costOf(round, metric))),
    )
    if (levels.some((costsOfOne) => costsOfOne.length === 0)) return []
    const level = (median(levels[0]!) + median(levels[1]!)) / 2
    return cycle.map((round) => ({ round, level }))
  })
}

/** The log of (cost of `over` / cost of `contender`), or undefined while either has fewer than two processes. */
export function compare(
  rounds: readonly Round[],
  contender: string,
  over: string,
  metric: Metric,
): { difference: Difference; replicas: [number, number] } | undefined {
  const besideLevel = besideCycle(rounds, contender, over, metric)
  const inPairs =
    rounds.every(({ heat }) => heat !== undefined) && sharedByHeats(besideLevel, contender, metric) > SHARED.LEAST
  const visits = inPairs ? besideOther(besideLevel, metric) : besideLevel
  const costsOf = (name: string): number[] => {
    const own = visits.filter(({ round }) => round.subject === name)
    const processes = Map.groupBy(own, ({ round }) => round.replica).values()
    return [...processes].map((process) => costOfProcess(process, metric))
  }
  const [own, other] = [costsOf(contender), costsOf(over)]
  if (own.length < 2 || other.length < 2) return undefined
  const samples = [sampleOf(own, LEAST_SPREAD), sampleOf(other, LEAST_SPREAD)] as const
  const replicas: [number, number] = [own.length, other.length]
  if (!inPairs) return { difference: welch(...samples), replicas }
  if (stayTogether(visits, own.length)) return { difference: ofSamePairs(samples), replicas }
  return { difference: ofPairs(samples, pairedLogs(visits, contender, metric)), replicas }
}

/** The log of (cost of the other / cost of the contender) of each heat. */
function pairedLogs(visits: readonly Visit[], contender: string, metric: Metric): number[] {
  return visits
    .filter(({ round }) => round.subject === contender)
    .map(({ round, level }) => level - Math.log(costOf(round, metric)))
}

/**
 * Share of the noise of heats that is removed. Removing all of it made 1.35 % of simulated races wrong. See
 * docs/measurements.md#correlated-noise
 */
const TAKEN_OFF = 0.75

/**
 * Both samples contain the difference, with opposite signs, so half of it is the result. Differences between processes
 * are in one sample, the noise of a heat is in both. It is subtracted once, as in two-way clustered standard errors.
 */
function ofPairs(samples: readonly [Sample, Sample], heats: readonly number[]): Difference {
  const between = welch(...samples)
  const [own, other] = samples.map(({ variance, size }) => variance / size) as [number, number]
  const { variance, size } = sampleOf(heats, 0)
  const error = Math.max(own, other, own + other - (TAKEN_OFF * variance) / size)
  return { ...between, difference: between.difference / 2, standardError: Math.sqrt(error) }
}

/** Whether each process always alternated with the same other one. */
function stayTogether(visits: readonly Visit[], processes: number): boolean {
  const pairs = byHeat(visits).map((heat) => heat.map(({ round }) => `${round.subject}/${round.replica}`).toSorted())
  return new Set(pairs.map((pair) => pair.join(' '))).size === processes
}

/** With fixed pairs, the pair is the sampling unit, and either sample contains all information. */
function ofSamePairs([own, other]: readonly [Sample, Sample]): Difference {
  const variance = Math.max(own.variance, other.variance, 2 * LEAST_SPREAD ** 2)
  return {
    difference: (other.mean - own.mean) / 2,
    standardError: Math.sqrt(variance / own.size),
    degreesOfFreedom: own.size - 1,
  }
}
