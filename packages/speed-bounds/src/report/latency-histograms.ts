import { build, decodeFromCompressedBase64, type Histogram } from 'hdr-histogram-js'
import { LATENCY_RANGE } from '../load/latency-range.ts'
import type { Round } from '../statistics/measured-round.ts'

/** Latency of a subject and a case, over all counted rounds. */
export interface Latency {
  readonly responses: number
  /** Pairs of a percentile and its milliseconds, in ascending order. The last one is 100: the maximum. */
  readonly percentiles: readonly (readonly [percentile: number, milliseconds: number])[]
}

const PERCENTILES = [
  ...[1, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9],
  ...[99.95, 99.975, 99.99, 99.995, 99.999],
]

/** Merges the histograms of rounds. Percentiles of rounds cannot be averaged, but their histograms can be added. */
export class LatencyHistograms {
  readonly #undiscarded = new Map<string, Histogram>()
  readonly #all = new Map<string, Histogram>()

  /** `encoded`: a compressed histogram of microseconds. */
  add({ subject, case: testCase, discarded }: Pick<Round, 'subject' | 'case' | 'discarded'>, encoded: string): void {
    const histogram = decodeFromCompressedBase64(encoded)
    for (const merged of discarded ? [this.#all] : [this.#all, this.#undiscarded]) {
      const key = keyOf(subject, testCase)
      const sum = merged.get(key) ?? build({ ...LATENCY_RANGE, bitBucketSize: 64 })
      sum.add(histogram)
      merged.set(key, sum)
    }
  }

  /** `countsAll`: whether discarded rounds count too, as on a machine that is busy throughout. */
  latencyOf(subject: string, testCase: string, countsAll = false): Latency | undefined {
    const merged = (countsAll ? this.#all : this.#undiscarded).get(keyOf(subject, testCase))
    if (!merged || merged.totalCount === 0) return undefined
    // Beyond these, not a single response is slower.
    const known = PERCENTILES.filter((percentile) => merged.totalCount * (1 - percentile / 100) >= 1)
    return {
      responses: merged.totalCount,
      percentiles: [...known, 100].map((percentile) => [percentile, merged.getValueAtPercentile(percentile) / 1000]),
    }
  }
}

function keyOf(subject: string, testCase: string): string {
  return JSON.stringify([subject, testCase])
}
