// From rounds to a verdict. Pure: what comes in decides what goes out, so that the rules can be
// tested by simulation.
//
// The unit is the process, since two processes of the same code differ by 1-3 % (heap layout, timing
// of the JIT), and now and then by far more: Fastify 5 on Node 24 falls into one of two modes 22 % apart
// for as long as the process lives. With 4 processes of each, chance gives all of one side the fast
// mode and all of the other the slow one in 0.8 % of races; with 5, in 0.2 %.
//
// Per process: the log of what its answers cost, each round less the level of its cycle, which takes
// out what the machine was doing just then. Between the two samples of processes: Welch's t. The
// interval of the ratio is held against the bound.
//
// A machine does not stay the same for a cycle: the same loop took 1.8 times as long for 0.3 to 2 s at a time, as it would
// while some other guest of the hypervisor uses the other thread of the core. Processes that take turns see the same
// of it. Where that shows, each round is less what the process cost that it took turns with. A difference then stands in
// both samples, once from either side: their means are opposite, so half of what lies between them is the result.
//
// Each answer of a process counts alike, not each round: where a hypervisor gave the machine to others, a
// round of 200 ms had 67 answers in place of 950, at 3,064 µs in place of 220, and one had none of its CPU
// counted. With such rounds counted like others, the interval of 15 processes each was 0.57 to 1.31; by answers it is
// 0.68 to 1.23.

import { costOf, type Measure, type Round } from './round.ts'
import type { Claim, Metric } from './options.ts'
import {
  correlation,
  type Difference,
  halfWidth,
  median,
  type Sample,
  sampleOf,
  trimmedMean,
  welch,
} from './statistics.ts'

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
  /** Rounds of both that counted, and those that did not. */
  readonly rounds: number
  readonly discarded: number
  readonly verdict: Verdict
  /** Of throughput and p99: the generator limited more than a fifth of a process's rounds, so this proves nothing. */
  readonly generatorBound: boolean
}

/** A claim judged on the rounds so far. */
export interface Judgement {
  readonly claim: Claim
  readonly verdict: Verdict
  readonly estimates: readonly Estimate[]
}

/** Share of a process's rounds that is cut off at each end. */
const TRIM = 0.2

/**
 * Standard deviation between processes that is assumed at the least. Processes of identical code were
 * measured to differ by 1-3 %; with few of them, chance can show less and make an interval too narrow.
 */
const LEAST_SPREAD = 0.01

/**
 * Only from this correlation on, a difference of two processes that took turns varies less than that of any two; and among
 * fewer heats, chance shows one too often.
 */
const SHARED = { LEAST: 0.5, HEATS: 10 }

/** Above this share of generator-bound rounds, what is left after trimming may still be generator-bound. */
const GENERATOR_BOUND_ALLOWED = TRIM

/** What a busy generator distorts. */
const SEEN_BY_GENERATOR: readonly Metric[] = ['throughput', 'p99']

/**
 * Judges a claim by the rounds so far. Every look may be the last one and every metric may decide, so
 * each interval may be wrong with a probability of alpha divided by the number of looks that there can
 * be and by the number of metrics: by Bonferroni's inequality the verdict, whenever it falls, is then
 * wrong with a probability of at most alpha.
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
  // CPU and throughput must both hold. Throughput that the generator limited is set aside when CPU
  // can decide in its place; alone it decides nothing.
  const decisive = estimates.filter(({ generatorBound }) => !generatorBound)
  if (decisive.length === 0 || estimates.length < claim.metrics.length) return 'inconclusive'
  if (decisive.some(({ verdict }) => verdict === 'broken')) return 'broken'
  return decisive.every(({ verdict }) => verdict === 'holds') ? 'holds' : 'inconclusive'
}

/** The rounds that a claim is about: of both subjects and its case, in the stages that measured both. */
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
  // JSON has no infinity: so wide an interval says as little when it ends at the largest number.
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

/** A round of a process, and the log of what such rounds cost at its time. */
interface Visit {
  readonly round: Round
  readonly level: number
}

/** The log of what a process cost: of what is counted per answer, that of its answers together. */
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

/** Rounds that were had in turns, by heat. */
function byHeat(visits: readonly Visit[]): Visit[][] {
  return [...Map.groupBy(visits, ({ round }) => `${round.stage}/${round.cycle}/${round.heat}`).values()]
}

/** How far the costs of processes that took turns rise and fall together within their cycles: Pearson's r, or 0 while that cannot be told. */
function sharedByHeats(visits: readonly Visit[], contender: string, metric: Metric): number {
  const cost = ({ round, level }: Visit): number => Math.log(costOf(round, metric)) - level
  const pairs = byHeat(visits).filter(({ length }) => length === 2)
  if (pairs.length < SHARED.HEATS) return 0
  const costsOf = (isContender: boolean): number[] =>
    pairs.map((heat) => cost(heat.find(({ round }) => (round.subject === contender) === isContender)!))
  return correlation(costsOf(true), costsOf(false))
}

/** Rounds less what the other of their heat cost: where that one is discarded, this one says nothing. */
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

/** Rounds less the level of their cycle. A cycle that lost all rounds of one of the two says nothing of their ratio. */
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

/** The log of (cost of `over` / cost of `contender`), or nothing while either has fewer than two processes. */
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
 * How much of the noise of heats is taken off. With all of it, simulated races of eight processes in two modes and two visits
 * were wrong in 1.35 %; with three quarters in 0.75 %, and intervals are narrower by a fifth than with none.
 */
const TAKEN_OFF = 0.75

/**
 * A difference that stands in both samples, once from either side. What processes differ by is in one of them, the noise of
 * a heat in both: it is taken off once, as it is from standard errors that are clustered in two ways.
 */
function ofPairs(samples: readonly [Sample, Sample], heats: readonly number[]): Difference {
  const between = welch(...samples)
  const [own, other] = samples.map(({ variance, size }) => variance / size) as [number, number]
  const { variance, size } = sampleOf(heats, 0)
  const error = Math.max(own, other, own + other - (TAKEN_OFF * variance) / size)
  return { ...between, difference: between.difference / 2, standardError: Math.sqrt(error) }
}

/** Whether each process had all its turns with the same other one. */
function stayTogether(visits: readonly Visit[], processes: number): boolean {
  const pairs = byHeat(visits).map((heat) => heat.map(({ round }) => `${round.subject}/${round.replica}`).toSorted())
  return new Set(pairs.map((pair) => pair.join(' '))).size === processes
}

/** Where the same two meet each time, the pair is the sampling unit, and either sample has all that is known of it. */
function ofSamePairs([own, other]: readonly [Sample, Sample]): Difference {
  const variance = Math.max(own.variance, other.variance, 2 * LEAST_SPREAD ** 2)
  return {
    difference: (other.mean - own.mean) / 2,
    standardError: Math.sqrt(variance / own.size),
    degreesOfFreedom: own.size - 1,
  }
}
