import type { Bottleneck } from '../statistics/measured-round.ts'
import type { Environment } from '../report/environment.ts'
import type { Protocol } from '../options/load-types.ts'

/** The result of {@link load} as one JSON document. Times are in milliseconds. */
export interface LoadReport {
  readonly version: 1
  readonly kind: 'load'
  readonly startedAt: string
  readonly finishedAt: string
  readonly environment: Environment
  /** Command line of the subject, or the URL of a running server. */
  readonly subject: string
  readonly request: { readonly protocol: Protocol; readonly method: string; readonly path: string }
  readonly load: {
    /** `rate`: an open loop, `users`: a closed one. */
    readonly kind: 'rate' | 'users'
    /** Maximum open connections of a rate. */
    readonly connections: number | null
    readonly keepAlive: boolean
    /** Mean pause of a user. */
    readonly pause: number | null
    readonly warmUp: number
    readonly requestTimeout: number
  }
  /** The highest rate that the subject serves. Null if no rate is a share of it. */
  readonly ceiling: LoadCeiling | null
  /** The rates, or the stages of users. */
  readonly phases: readonly LoadPhase[]
  /** All stages together. Null for rates. */
  readonly total: LoadPhase | null
}

/** The highest throughput of a closed loop. */
export interface LoadCeiling {
  /** Responses per second. */
  readonly rate: number
  /** Users that it took. */
  readonly users: number
  readonly limitedBy: Bottleneck
}

/** Measurements of a rate or of a stage. */
export interface LoadPhase {
  /** The load as the options have it, such as `50%`, `2000/s` or `50 to 100 users`. */
  readonly load: string
  /** Intended requests per second at both ends. Null for users. */
  readonly rate: { readonly from: number; readonly to: number } | null
  readonly duration: number
  /** Right responses, and how many came per second. */
  readonly responses: number
  readonly throughput: number
  readonly failures: {
    /** Connections that could not be opened, or broke. */
    readonly errors: number
    readonly timeouts: number
    readonly unexpectedStatus: number
    /** An example of an error. */
    readonly message?: string
  }
  /** Latency of the right responses, from the intended time of their requests. Null without any. */
  readonly latency: LoadLatency | null
  /** CPU and memory of the subject's processes. Null if `load()` did not start it. */
  readonly server: LoadServer | null
  readonly generator: {
    /** Share of the time in which it had work. */
    readonly utilization: number
    /** How late it sent requests: 99th percentile. It is part of the latency. */
    readonly lateness: number
    /** Maximum open connections. */
    readonly connections: number
  }
  /** `latency`: neither the server nor the generator was busy. */
  readonly limitedBy: Bottleneck
}

/** Latency in milliseconds. */
export interface LoadLatency {
  readonly mean: number
  readonly p50: number
  readonly p90: number
  readonly p95: number
  readonly p99: number
  readonly max: number
  /** Pairs of a percentile and its milliseconds, in ascending order. */
  readonly percentiles: readonly (readonly [percentile: number, milliseconds: number])[]
}

/** Use of the machine by the subject and by others. */
export interface LoadServer {
  /** CPU per response in microseconds, over the whole process tree. */
  readonly cpu: number
  /** Share of the time in which its busiest thread had work. */
  readonly utilization: number
  /** Resident memory at the end, and its peak so far, in bytes. */
  readonly rss: number
  readonly peakRss: number
  /** CPU of other programs, in cores. */
  readonly foreignCpu: number
}
