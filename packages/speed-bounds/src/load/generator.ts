// The one interface of all load generators, and the messages between a race and the process of its generator.

import type { ResolvedCase, ResolvedLoad } from '../options/resolved.ts'

/** Where to send the requests of a case, and which status counts as a response. */
export interface Target {
  readonly origin: string
  readonly testCase: ResolvedCase
  /** Any other status is a failure. */
  readonly status: number
  readonly load: ResolvedLoad
}

/** One job of a generator: one case against one subject for one round. */
export interface Workload {
  readonly origin: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly status: number
  readonly load: ResolvedLoad
  /** Milliseconds of load before the round. Of the lead, only failures count. */
  readonly lead: number
  /** The race starts each turn, and ends the workload after many rounds. The lead and the duration of the load do not apply. */
  readonly inTurns: boolean
}

/** The measurements of a generator. */
export interface LoadResult {
  /** Responses with the right status. */
  readonly responses: number
  /** Counts of the lead. Its failures are also part of `failures`. */
  readonly before: { readonly responses: number; readonly failures: number }
  /** Milliseconds from the start of the round, or from the first request, to the last response. */
  readonly elapsed: number
  /** Latency in milliseconds. */
  readonly latency: { readonly p50: number; readonly p90: number; readonly p99: number }
  /** All latencies, as a compressed hdr-histogram of microseconds. wrk has none. */
  readonly histogram?: string
  /** Failed requests by kind. */
  readonly failures: {
    readonly errors: number
    readonly timeouts: number
    /** Connections without a response while the others got many. */
    readonly hanging: number
    readonly unexpectedStatus: number
  }
  /** Share of the time in which the generator's busiest thread had work. */
  readonly utilization: number
  /** CPU time of the generator in milliseconds. */
  readonly cpu: number
  /** The same without the time that busy polling took. */
  readonly workCpu: number
}

/** The outcome of a turn. */
export interface TurnResult {
  /** Whether every request got its response, or its connection ended. */
  readonly isComplete: boolean
  /** Whether a client has connected again since the turn before, or as the turn began, without an announced end of its connection. */
  readonly reconnected: boolean
  /** Milliseconds until the last response. */
  readonly elapsed: number
}

/** Whether a turn counts. With `'unless-reconnected'`, it does if all connections are those of the turn before. */
export type TurnCounts = boolean | 'unless-reconnected'

/** Controls a workload in turns. */
export interface TurnControl {
  /** Sends requests for this many milliseconds, then waits for pending responses. Only turns that count are measured. */
  turn(duration: number, counts: TurnCounts): Promise<TurnResult>
  /** The measurements since the last call, once no request is pending. */
  collect(): Promise<LoadResult>
  finish(): void
}

/** Events of a workload. */
interface WorkloadEvents {
  /** The lead is over. */
  readonly onBegin: () => void
  /** A workload in turns can be started. */
  readonly onReady: (turns: TurnControl) => void
}

/** The whole job of a generator, in its own process. A workload in turns is collected before its end, which has no result. */
export type RunWorkload = (workload: Workload, events: WorkloadEvents) => Promise<LoadResult | undefined>

/** From the race to the generator's process, about the workload with this number. */
export type GeneratorCommand = { readonly id: number } & (
  | { readonly workload: Workload }
  | { readonly turn: { readonly duration: number; readonly counts: TurnCounts } }
  | { readonly collect: true }
  | { readonly finish: true }
)

/** From the generator's process to the race. */
export type GeneratorMessage = { readonly id: number } & (
  | { readonly begun: true }
  | { readonly turn: TurnResult }
  | { readonly collected: LoadResult }
  | { readonly ok: LoadResult | undefined }
  | { readonly error: string }
)

/** The connections of a workload in turns. Several workloads can be open while one of them is active. */
export type TurnSession = TurnControl

export interface Generator {
  /** Rejects with the signal's reason when it aborts. The generator must be closed then. */
  run(
    target: Target,
    signal: AbortSignal,
    lead?: { readonly milliseconds: number; readonly onBegin: () => void },
  ): Promise<LoadResult>
  openSession(target: Target, signal: AbortSignal): TurnSession
  close(): Promise<void>
}
