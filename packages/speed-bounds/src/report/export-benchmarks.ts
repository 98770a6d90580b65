// The figures of a result in the formats of services that draw them over time.

import type { Comparison } from '../compare/comparison.ts'
import type { Metric } from '../options/types.ts'
import type { RaceResult, Summary } from './result.ts'

/** A figure of one subject and one case. */
interface Figure {
  readonly value: number
  /** The same, by process. */
  readonly processes: readonly number[]
}

/** Metrics of which smaller values are better. */
const COSTS: readonly Metric[] = ['cpu', 'p99', 'rss', 'peakRss']

const UNITS: Readonly<Record<Metric, { title: string; unit: string; slug: string }>> = {
  cpu: { title: 'CPU per request', unit: 'µs', slug: 'cpu-per-request-us' },
  // Bencher has this measure, in operations per second.
  throughput: { title: 'throughput', unit: 'requests/s', slug: 'throughput' },
  p99: { title: 'p99 latency', unit: 'ms', slug: 'p99-latency-ms' },
  rss: { title: 'memory', unit: 'bytes', slug: 'memory-bytes' },
  peakRss: { title: 'peak memory', unit: 'bytes', slug: 'peak-memory-bytes' },
}

/** An entry of github-action-benchmark, for its tools `customSmallerIsBetter` and `customBiggerIsBetter`. */
export interface GithubActionBenchmark {
  readonly name: string
  readonly unit: string
  readonly value: number
  readonly range: string
  readonly extra: string
}

/**
 * Entries of github-action-benchmark. A file has one direction: without a metric these are the metrics of which smaller
 * values are better.
 */
export function toGithubActionBenchmark(document: RaceResult | Comparison, metric?: Metric): GithubActionBenchmark[] {
  return benchmarksOf(document).flatMap(({ name, summary }) =>
    (metric === undefined ? COSTS : [metric]).map((one) => {
      const { value, processes } = figureOf(summary, one)
      const { title, unit } = UNITS[one]
      return {
        name: `${name}: ${title}`,
        ...{ unit, value },
        range: `± ${Number(deviationOf(processes).toPrecision(3))}`,
        extra: `${processes.length} processes, ${summary.rounds} rounds`,
      }
    }),
  )
}

/** Bencher Metric Format: metrics by benchmark and measure. The bounds are the lowest and the highest process. */
export type BencherMetrics = Readonly<
  Record<string, Readonly<Record<string, { value: number; lower_value: number; upper_value: number }>>>
>

export function toBencher(document: RaceResult | Comparison, metric?: Metric): BencherMetrics {
  const metrics = metric === undefined ? (Object.keys(UNITS) as Metric[]) : [metric]
  return Object.fromEntries(
    benchmarksOf(document).map(({ name, summary }) => [
      name,
      Object.fromEntries(
        metrics.map((one) => {
          const { value, processes } = figureOf(summary, one)
          return [
            UNITS[one].slug,
            { value, lower_value: Math.min(value, ...processes), upper_value: Math.max(value, ...processes) },
          ]
        }),
      ),
    ]),
  )
}

/** Summaries with names that stay the same from commit to commit. Of a comparison, those of its head. */
function benchmarksOf(document: RaceResult | Comparison): { name: string; summary: Summary }[] {
  if (!('kind' in document)) {
    return document.summaries.map((summary) => ({ name: `${summary.subject}, ${summary.case}`, summary }))
  }
  return Object.entries(document.races).flatMap(([subject, { subjects, summaries }]) =>
    summaries
      .filter((summary) => summary.subject === subjects[1]?.name)
      .map((summary) => ({ name: `${subject}, ${summary.case}`, summary })),
  )
}

function figureOf({ mean, replicas }: Summary, metric: Metric): Figure {
  return { value: mean[metric], processes: replicas.map((replica) => replica[metric]) }
}

/** The standard deviation of processes. */
function deviationOf(values: readonly number[]): number {
  if (values.length < 2) return 0
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1))
}
