import type { Metric } from '../options/types.ts'

/** Limit of a round's rate: the busier of server and generator, or `latency` if both had time. */
export type Bottleneck = 'server' | 'generator' | 'latency'

/** One measured round: one process under the load of one case for a fraction of a second. */
export interface Round {
  /** Each stage starts fresh processes. Counted from 1. */
  readonly stage: number
  /** Each cycle measures every process once per case. Counted from 1 within its stage. */
  readonly cycle: number
  /** Processes of one heat alternate in turns. Counted from 1 within its cycle. Undefined for a round without turns. */
  readonly heat?: number
  /** Milliseconds from the start of the race to the end of the round. */
  readonly at?: number
  readonly subject: string
  /** Number of the process within its subject, over all stages, from 1. */
  readonly replica: number
  readonly case: string
  /** Responses with the right status. */
  readonly responses: number
  /** Requests that failed, within `maxErrorRate`. */
  readonly failures: number
  /** Milliseconds from the first request to the last response. */
  readonly elapsed: number
  /** Server CPU over its whole process tree, in microseconds per response. */
  readonly cpu: number
  /** Responses per second. */
  readonly throughput: number
  /** Latency in milliseconds. */
  readonly p50: number
  readonly p90: number
  readonly p99: number
  /** Resident memory of the process tree after the round, in bytes. */
  readonly rss: number
  /** Peak resident memory so far, in bytes. */
  readonly peakRss: number
  /** Share of the round in which the server's busiest thread had work. */
  readonly serverUtilization: number
  /** The same for the generator. */
  readonly generatorUtilization: number
  /** The generator's own CPU, in microseconds per response. It is the same work each time, so it tells of disturbances. */
  readonly generatorCpu: number
  /** CPU of programs outside the race, and of other guests of a hypervisor, in cores. */
  readonly foreignCpu: number
  /** The part of `foreignCpu` that other guests of a hypervisor took. Undefined in results of older versions. */
  readonly stolenCpu?: number
  readonly bottleneck: Bottleneck
  /** Why the round does not count: always a covariate, never its result. */
  readonly discarded?: 'foreign-cpu'
}

/**
 * Share of time with work from which on a process is the bottleneck. Neither reaches 1, because server and generator
 * alternate: a saturated server showed 0.93. See docs/measurements.md#bottleneck-share
 */
const BUSY_SHARE = 0.8

/** If both are busy, the busier one sets the pace. A tie proves nothing about the server. */
export function bottleneckOf(serverUtilization: number, generatorUtilization: number): Bottleneck {
  if (Math.max(serverUtilization, generatorUtilization) < BUSY_SHARE) return 'latency'
  return serverUtilization > generatorUtilization ? 'server' : 'generator'
}

/** Metrics, and latencies without claims. */
export type Measure = Metric | 'p50' | 'p90'

/** Minimum CPU in microseconds. If the system counts CPU in steps of 10 ms, a light round may read as 0. */
const MIN_CPU = 0.001

/** Cost of a round, by metric: lower is better. The ratio of two costs is the factor that is reported. */
export function costOf(round: Round, metric: Measure): number {
  if (metric === 'throughput') return 1 / round.throughput
  return metric === 'cpu' ? Math.max(round.cpu, MIN_CPU) : round[metric]
}
