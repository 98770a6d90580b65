// Three ways to get from process costs to a difference with a standard error. Which one applies depends on how the
// processes met. See ../../docs/statistics.md#error-models

import { type Difference, moderated, type Prior, type Sample, sampleOf, welch } from './samples.ts'

/**
 * Minimum standard deviation between processes. Identical code differs by 1-3 %, and a few processes can show less by
 * chance. See docs/measurements.md#processes-differ
 */
const MIN_SPREAD = 0.01

/**
 * Share of the noise of heats that is removed. Removing all of it made 1.35 % of simulated races wrong. See
 * docs/measurements.md#correlated-noise
 */
const REMOVED_NOISE = 0.75

/** Below this many processes of a subject, their variance is moderated by {@link FEW_PRIOR}. */
export const FEW = 3

/**
 * Spread that two processes are assumed to have, as on a busy machine. Two that agree by chance decide nothing below a
 * factor of about 1.7. See docs/measurements.md#two-processes
 */
const FEW_PRIOR: Prior = { variance: 0.11 ** 2, degreesOfFreedom: 8 }

/** Log costs of the processes of both subjects. */
export interface ProcessCosts {
  readonly contender: readonly number[]
  readonly over: readonly number[]
}

type Samples = readonly [contender: Sample, over: Sample]

function samplesOf({ contender, over }: ProcessCosts): Samples {
  return [sampleOf(contender, MIN_SPREAD), sampleOf(over, MIN_SPREAD)]
}

/**
 * The processes are independent.
 *
 * @param noise - variance that few processes are assumed to have at least, if the machine was disturbed
 */
export function independentDifference(costs: ProcessCosts, noise: number): Difference {
  const [own, other] = samplesOf(costs)
  if (Math.min(own.size, other.size) >= FEW) return welch(own, other)
  const prior = { ...FEW_PRIOR, variance: Math.max(FEW_PRIOR.variance, noise) }
  return welch(moderated(own, prior), moderated(other, prior))
}

/**
 * Processes alternated with changing partners. Both samples contain the difference, with opposite signs, so half of it
 * is the result. The noise of a heat is in both, so it is subtracted once, as in two-way clustered standard errors.
 */
export function pairedDifference(costs: ProcessCosts, heats: readonly number[]): Difference {
  const samples = samplesOf(costs)
  const between = welch(...samples)
  const [own, other] = samples.map(({ variance, size }) => variance / size) as [number, number]
  const { variance, size } = sampleOf(heats, 0)
  const error = Math.max(own, other, own + other - (REMOVED_NOISE * variance) / size)
  return { ...between, difference: between.difference / 2, standardError: Math.sqrt(error) }
}

/** Each process alternated with one partner only. The pair is the sampling unit, and either sample has all information. */
export function fixedPairDifference(costs: ProcessCosts): Difference {
  const [own, other] = samplesOf(costs)
  const variance = Math.max(own.variance, other.variance, 2 * MIN_SPREAD ** 2)
  return {
    difference: (other.mean - own.mean) / 2,
    standardError: Math.sqrt(variance / own.size),
    degreesOfFreedom: own.size - 1,
  }
}
