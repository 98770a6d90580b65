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
  readonly #merged = new Map<string, Histogram>()

  /** `encoded`: a compressed histogram of microseconds. */
  add({ subject, case: testCase, discarded }: Pick<Round, 'subject' | 'case' | 'discarded'>, encoded: string): void {
    const key = keyOf(subject, testCase, discarded !== undefined)
    const merged = this.#merged.get(key) ?? sumOf([])
    merged.add(decodeFromCompressedBase64(encoded))
    this.#merged.set(key, merged)
  }

  /** `countsAll`: whether discarded rounds count too, as on a machine that is busy throughout. */
  latencyOf(subject: string, testCase: string, countsAll = false): Latency | undefined {
    const parts = (countsAll ? [false, true] : [false]).map((discarded) => keyOf(subject, testCase, discarded))
    const merged = sumOf(parts.map((key) => this.#merged.get(key)))
    if (merged.totalCount === 0) return undefined
    // Beyond these, not a single response is slower.
    const known = PERCENTILES.filter((percentile) => merged.totalCount * (1 - percentile / 100) >= 1)
    return {
      responses: merged.totalCount,
      percentiles: [...known, 100].map((percentile) => [percentile, merged.getValueAtPercentile(percentile) / 1000]),
    }
  }
}

function sumOf(histograms: readonly (Histogram | undefined)[]): Histogram {
  const sum = build({ ...LATENCY_RANGE, bitBucketSize: 64 })
  for (const histogram of histograms) if (histogram) sum.add(histogram)
  return sum
}

function keyOf(subject: string, testCase: string, discarded: boolean): string {
  return JSON.stringify([subject, testCase, discarded])
}
