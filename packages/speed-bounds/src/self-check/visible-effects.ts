import type { Metric } from '../options/types.ts'
import { compare } from '../statistics/comparison.ts'
import { countRounds } from '../statistics/counted-rounds.ts'
import type { Round } from '../statistics/measured-round.ts'
import { detectable, median } from '../statistics/samples.ts'

/** Times that a self-check tells the smallest effect of, in milliseconds. */
export const TIMES: readonly number[] = [10_000, 30_000, 60_000]

/** The probability with which an effect is found. */
const POWER = 0.8

/** A race of a server against itself, and how it was judged. */
export interface TriedRace {
  readonly rounds: readonly Round[]
  readonly metric: Metric
  /** The probability with which one interval may miss the true ratio. */
  readonly alpha: number
}

/** The smallest effect that is visible after a time. */
export interface VisibleEffect {
  /** Milliseconds. */
  readonly time: number
  /** The ratio, as the median over all races. NaN if most races have too little data at that time. */
  readonly ratio: number
}

/** The smallest ratio that the rounds of the first `time` milliseconds find four times out of five. */
export function visibleEffect(races: readonly TriedRace[], time: number): VisibleEffect {
  const effects = races.map(({ rounds, metric, alpha }) => {
    const early = rounds.filter(({ at = 0 }) => at <= time)
    const { difference } = compare(countRounds(early), 'first', 'second', metric) ?? {}
    return difference ? Math.exp(detectable(difference, alpha, POWER)) : Number.POSITIVE_INFINITY
  })
  const ratio = median(effects)
  return { time, ratio: Number.isFinite(ratio) ? ratio : Number.NaN }
}

/** How much other programs took from the races. */
export interface Neighbors {
  /** Mean CPU of other programs during rounds, in cores. */
  readonly foreignCpu: number
  /** Share of rounds in which it was above `maxForeignCpu`. */
  readonly discarded: number
}

export function neighborsOf(races: readonly TriedRace[]): Neighbors {
  const rounds = races.flatMap((race) => race.rounds)
  const foreign = rounds.reduce((sum, { foreignCpu }) => sum + foreignCpu, 0)
  const discarded = rounds.filter((round) => round.discarded).length
  return { foreignCpu: foreign / rounds.length, discarded: discarded / rounds.length }
}
