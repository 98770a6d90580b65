// Statistics of samples. The t quantile comes from jstat. The rest is short, and tested against known values and by
// simulation.

import jstat from 'jstat'

/** A sample of independent values: one mean per process. */
export interface Sample {
  readonly mean: number
  readonly variance: number
  readonly size: number
  /** Of the variance. */
  readonly degreesOfFreedom: number
}

/** What is known of a variance before a sample: its value, and how many degrees of freedom that is worth. */
export interface Prior {
  readonly variance: number
  readonly degreesOfFreedom: number
}

/** A difference of two means, and its precision. */
export interface Difference {
  readonly difference: number
  readonly standardError: number
  readonly degreesOfFreedom: number
}

export function median(values: readonly number[]): number {
  return jstat.median(values)
}

/** Pearson's r; 0 where nothing varies. */
export function correlation(a: readonly number[], b: readonly number[]): number {
  return jstat.corrcoeff(a, b) || 0
}

/** The mean without the `share` lowest and `share` highest values. Without weights, the others count alike. */
export function trimmedMean(values: readonly number[], share: number, weights: readonly number[] = []): number {
  const cut = Math.floor(values.length * share)
  const middle = values
    .map((value, index) => ({ value, weight: weights[index] ?? 1 }))
    .toSorted((a, b) => a.value - b.value)
    .slice(cut, values.length - cut)
  return jstat.sum(middle.map(({ value, weight }) => value * weight)) / jstat.sum(middle.map(({ weight }) => weight))
}

/** `minDeviation` is a floor for the standard deviation. See error-models.ts. */
export function sampleOf(values: readonly number[], minDeviation: number): Sample {
  const variance = values.length > 1 ? jstat.variance(values, true) : 0
  const size = values.length
  return { mean: jstat.mean(values), variance: Math.max(variance, minDeviation ** 2), size, degreesOfFreedom: size - 1 }
}

/** The variance within samples of one spread but different means. 0 if none has two values. */
export function pooledVariance(samples: readonly (readonly number[])[]): number {
  const many = samples.filter(({ length }) => length > 1)
  return many.length === 0 ? 0 : jstat.pooledvariance(many)
}

/** The sample with its variance moderated by a prior, each weighted by its degrees of freedom: Smyth 2004, equation 1. */
export function moderated(sample: Sample, prior: Prior): Sample {
  const degreesOfFreedom = prior.degreesOfFreedom + sample.degreesOfFreedom
  const sum = prior.degreesOfFreedom * prior.variance + sample.degreesOfFreedom * sample.variance
  return { ...sample, variance: sum / degreesOfFreedom, degreesOfFreedom }
}

/** Welch's t for b - a, with the degrees of freedom of Welch and Satterthwaite. */
export function welch(a: Sample, b: Sample): Difference {
  const errorA = a.variance / a.size
  const errorB = b.variance / b.size
  return {
    difference: b.mean - a.mean,
    standardError: Math.sqrt(errorA + errorB),
    degreesOfFreedom: (errorA + errorB) ** 2 / (errorA ** 2 / a.degreesOfFreedom + errorB ** 2 / b.degreesOfFreedom),
  }
}

/** Half the width of the two-sided interval that misses the truth with probability `alpha`. */
export function halfWidth({ standardError, degreesOfFreedom }: Difference, alpha: number): number {
  return standardError * jstat.studentt.inv(1 - alpha / 2, degreesOfFreedom)
}

/** The probability of at least `count` hits in this many tries, each with the same probability. */
export function chanceOfAtLeast(count: number, tries: number, probability: number): number {
  return 1 - jstat.binomial.cdf(count - 1, tries, probability)
}

/** The difference that a test at `alpha` finds with probability `power`. */
export function detectable(difference: Difference, alpha: number, power: number): number {
  return (
    halfWidth(difference, alpha) + difference.standardError * jstat.studentt.inv(power, difference.degreesOfFreedom)
  )
}
