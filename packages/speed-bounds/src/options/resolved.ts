import type { ComparedResponse, GeneratorName, HeatOrder, IdleState, Metric, Progress } from './types.ts'

export interface ResolvedSubject {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  /** The script, if Node runs it. */
  readonly file: string | undefined
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** The command line for people. */
  readonly label: string
}

export interface ResolvedCase {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly compareHeaders: readonly string[]
  readonly expect: Partial<ComparedResponse> | undefined
  readonly normalize: ((response: ComparedResponse) => ComparedResponse) | undefined
  /** For every subject, or for those that are named. */
  readonly maxErrorRate: number | Readonly<Record<string, number>>
}

export interface ResolvedLoad {
  readonly generator: GeneratorName
  readonly busyPoll: number
  readonly connections: number
  readonly pipelining: number
  readonly duration: number
  readonly amount: number | undefined
  readonly requestTimeout: number
}

export interface ResolvedRace {
  readonly subjects: readonly ResolvedSubject[]
  readonly cases: readonly ResolvedCase[]
  readonly load: ResolvedLoad
  readonly replicas: number
  readonly maxWarmUp: number
  readonly minWarmUp: number
  readonly idle: IdleState
  readonly heats: HeatOrder
  /** Length of a turn. Without turns, the length of a round. */
  readonly turn: number
  readonly cycles: number
  readonly stages: number
  readonly alpha: number
  readonly budget: number
  readonly startTimeout: number
  readonly stopTimeout: number
  readonly maxForeignCpu: number
  readonly seed: number
  readonly cwd: string
  readonly onProgress: (progress: Progress) => void
}

/** A claim with its defaults. */
export interface Claim {
  readonly contender: string
  readonly over: string
  readonly atLeast: number
  readonly case: string
  readonly metrics: readonly Metric[]
  readonly alpha: number
  readonly budget: number
  /** Work that costs are counted for. @default 'request' */
  readonly unit?: 'call'
}
