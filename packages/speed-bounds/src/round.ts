import type { Metric } from './options.ts'

/** What limited the rate of a round: the busier of server and generator, or `latency` while both had time. */
export type Bottleneck = 'server' | 'generator' | 'latency'

/** One measured round: one process answering one case for a fraction of a second. */
export interface Round {
  /** Each stage starts fresh processes; counted from 1. */
  readonly stage: number
  /** Each cycle visits every process once per case; counted from 1 within its stage. */
  readonly cycle: number
  /** Processes of one heat had their rounds in turns; counted from 1 within its cycle. None: the round was had alone. */
  readonly heat?: number
  readonly subject: string
  /** Number of the process among those of its subject, over all stages, from 1. */
  readonly replica: number
  readonly case: string
  /** Answers with the right status. */
  readonly answers: number
  /** Requests that failed, within the case's allowance. */
  readonly failures: number
  /** Milliseconds from the first request to the last answer. */
  readonly elapsed: number
  /** Server CPU over its whole process tree, in microseconds per answer. */
  readonly cpu: number
  /** Answers per second. */
  readonly throughput: number
  /** Latency in milliseconds. */
  readonly p50: number
  readonly p90: number
  readonly p99: number
  /** Resident memory of the process tree after the round, in bytes. */
  readonly rss: number
  /** The most memory that was resident so far, in bytes. */
  readonly peakRss: number
  /** Share of the round in which the server's busiest thread had work. */
  readonly serverUtilisation: number
  /** The same of the generator. */
  readonly generatorUtilisation: number
  /** CPU of programs that do not belong to the race, and of other guests of a hypervisor, in cores. */
  readonly foreignCpu: number
  readonly bottleneck: Bottleneck
  /** Why the round does not count: only ever a covariate, never its result. */
  readonly discarded?: 'foreign-cpu'
}

/**
 * Share of the time with work from which on a single-threaded program keeps the other waiting. Neither
 * comes to 1: with 50 connections each takes turns with the other, and a saturated server showed 0.93 to 1.
 */
const BUSY = 0.8

/** When both are busy, the busier one sets the pace; when they are equally so, nothing is proved of the server. */
export function bottleneckOf(serverUtilisation: number, generatorUtilisation: number): Bottleneck {
  if (Math.max(serverUtilisation, generatorUtilisation) < BUSY) return 'latency'
  return serverUtilisation > generatorUtilisation ? 'server' : 'generator'
}

/** What is told of a round: metrics, and latencies that nothing is claimed of. */
export type Measure = Metric | 'p50' | 'p90'

/** Where the system counts CPU in steps of 10 ms, a light round may read as none at all; in microseconds. */
const LEAST_CPU = 0.001

/** What a round cost, by metric: lower is better, and the ratio of two costs is the factor that people speak of. */
export function costOf(round: Round, metric: Measure): number {
  if (metric === 'throughput') return 1 / round.throughput
  return metric === 'cpu' ? Math.max(round.cpu, LEAST_CPU) : round[metric]
}
