// From the rounds of two subjects to one difference of log costs. The process is the sampling unit, because processes
// of the same code differ by 1-3 %, or have bimodal costs. See docs/measurements.md#processes-differ

import type { Metric } from '../options/types.ts'
import { areTooUneven, type CountedRounds } from './counted-rounds.ts'
import { fixedPairDifference, independentDifference, pairedDifference } from './error-models.ts'
import { normalizeByMachine } from './machine-state.ts'
import { costOf, type Measure, type Round } from './measured-round.ts'
import { type NormalizedRound, relativeCost } from './normalized-round.ts'
import { correlation, type Difference, median, pooledVariance, trimmedMean } from './samples.ts'
import { undisturbedRounds } from './undisturbed-rounds.ts'

/** Share of a process's rounds that is trimmed at each end. */
export const TRIMMED_SHARE = 0.2

/** Pairing reduces noise only above this correlation. With fewer heats, chance shows one too often. */
const SHARED_NOISE = { MIN_CORRELATION: 0.5, MIN_HEATS: 10 }

/**
 * The cost of a process is that of its least disturbed rounds, which vary less than all of them. See
 * docs/measurements.md#two-processes
 */
const SHARE_OF_NOISE = 0.7

/** How the log costs of two subjects differ, and how many processes of each that rests on. */
export interface Comparison {
  readonly difference: Difference
  readonly replicas: [contender: number, over: number]
}

/**
 * The log of (cost of `over` / cost of `contender`). Undefined while either has fewer than two processes, or one that was
 * hardly measured.
 */
export function compare(
  { counted: rounds, isDisturbed }: CountedRounds,
  contender: string,
  over: string,
  metric: Metric,
): Comparison | undefined {
  const byCycle = normalizeByCycle(rounds, contender, over, metric)
  const isPaired =
    rounds.every(({ heat }) => heat !== undefined) &&
    correlationOfHeats(byCycle, contender, metric) > SHARED_NOISE.MIN_CORRELATION
  const normalized = isPaired
    ? normalizeByPartner(byCycle, metric)
    : metric === 'cpu'
      ? normalizeByMachine(undisturbedRounds(rounds), contender, over)
      : byCycle
  const costs = {
    contender: processCosts(normalized, contender, metric),
    over: processCosts(normalized, over, metric),
  }
  if (costs.contender.length < 2 || costs.over.length < 2 || areTooUneven(rounds)) return undefined
  const replicas: [number, number] = [costs.contender.length, costs.over.length]
  if (!isPaired) {
    const noise = isDisturbed ? SHARE_OF_NOISE * noiseWithin(rounds, metric) : 0
    return { difference: independentDifference(costs, noise), replicas }
  }
  if (haveFixedPartners(normalized, costs.contender.length)) {
    return { difference: fixedPairDifference(costs), replicas }
  }
  return { difference: pairedDifference(costs, logRatiosOfHeats(normalized, contender, metric)), replicas }
}

/**
 * The log cost of a process. CPU and throughput weight each response alike, not each round: a hypervisor can leave a
 * round few responses. See docs/measurements.md#weight-by-responses
 */
export function costOfProcess(rounds: readonly NormalizedRound[], measure: Measure): number {
  const costs = rounds.map((normalized) => relativeCost(normalized, measure))
  if (measure !== 'cpu' && measure !== 'throughput') return trimmedMean(costs, TRIMMED_SHARE)
  return Math.log(
    trimmedMean(
      costs.map(Math.exp),
      TRIMMED_SHARE,
      rounds.map(({ round }) => round.responses),
    ),
  )
}

/** The variance of the log costs of rounds of one process, over all processes. */
function noiseWithin(rounds: readonly Round[], metric: Metric): number {
  const processes = [...Map.groupBy(rounds, ({ subject, replica }) => `${subject}\n${replica}`).values()]
  return pooledVariance(processes.map((own) => own.map((round) => Math.log(costOf(round, metric)))))
}

function processCosts(normalized: readonly NormalizedRound[], subject: string, metric: Metric): number[] {
  const own = normalized.filter(({ round }) => round.subject === subject)
  const processes = Map.groupBy(own, ({ round }) => round.replica).values()
  return [...processes].map((rounds) => costOfProcess(rounds, metric))
}

/**
 * Normalizes each round by its cycle, which removes the state of the machine. A cycle that lost all rounds of one
 * subject says nothing about the ratio.
 */
function normalizeByCycle(
  rounds: readonly Round[],
  contender: string,
  over: string,
  metric: Metric,
): NormalizedRound[] {
  return [...Map.groupBy(rounds, ({ stage, cycle }) => `${stage}/${cycle}`).values()].flatMap((cycle) => {
    const costs = [contender, over].map((name) =>
      cycle.filter(({ subject }) => subject === name).map((round) => Math.log(costOf(round, metric))),
    )
    if (costs.some((costsOfOne) => costsOfOne.length === 0)) return []
    const baseline = (median(costs[0]!) + median(costs[1]!)) / 2
    return cycle.map((round) => ({ round, baseline }))
  })
}

/**
 * Normalizes each round by the other round of its heat: alternating processes share the changing speed of a core. A
 * round whose partner is discarded says nothing. See docs/measurements.md#slow-core
 */
function normalizeByPartner(normalized: readonly NormalizedRound[], metric: Metric): NormalizedRound[] {
  return groupByHeat(normalized).flatMap(([one, other]) =>
    one && other
      ? [
          { round: one.round, baseline: Math.log(costOf(other.round, metric)) },
          { round: other.round, baseline: Math.log(costOf(one.round, metric)) },
        ]
      : [],
  )
}

function groupByHeat(normalized: readonly NormalizedRound[]): NormalizedRound[][] {
  return [...Map.groupBy(normalized, ({ round }) => `${round.stage}/${round.cycle}/${round.heat}`).values()]
}

/** Pearson's r of the costs of alternating processes within their cycles, or 0 with too few heats. */
function correlationOfHeats(normalized: readonly NormalizedRound[], contender: string, metric: Metric): number {
  const pairs = groupByHeat(normalized).filter(({ length }) => length === 2)
  if (pairs.length < SHARED_NOISE.MIN_HEATS) return 0
  const costsOf = (isContender: boolean): number[] =>
    pairs.map((heat) =>
      relativeCost(
        heat.find(({ round }) => (round.subject === contender) === isContender)!,
        metric,
      ),
    )
  return correlation(costsOf(true), costsOf(false))
}

/** The log of (cost of the partner / cost of the contender) of each heat. */
function logRatiosOfHeats(normalized: readonly NormalizedRound[], contender: string, metric: Metric): number[] {
  return normalized
    .filter(({ round }) => round.subject === contender)
    .map(({ round, baseline }) => baseline - Math.log(costOf(round, metric)))
}

/** Whether each process always alternated with the same partner. */
function haveFixedPartners(normalized: readonly NormalizedRound[], processes: number): boolean {
  const pairs = groupByHeat(normalized).map((heat) =>
    heat.map(({ round }) => `${round.subject}/${round.replica}`).toSorted(),
  )
  return new Set(pairs.map((pair) => pair.join(' '))).size === processes
}
