import type { Answer, GeneratorName, HeatOrder, IdleState, Metric, Progress } from './types.ts'

export interface ResolvedSubject {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  /** The script, when Node runs it. */
  readonly file: string | undefined
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** The command line as a person would write it. */
  readonly label: string
}

export interface ResolvedCase {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly compareHeaders: readonly string[]
  readonly expect: Partial<Answer> | undefined
  readonly normalise: ((answer: Answer) => Answer) | undefined
  /** Of each subject, or of those that are named. */
  readonly allowance: number | Readonly<Record<string, number>>
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
  readonly warmUp: number
  readonly leastWarmUp: number
  readonly idle: IdleState
  readonly heats: HeatOrder
  /** As long as a round where that is had at one go. */
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

/** A claim with all that was left out filled in. */
export interface Claim {
  readonly contender: string
  readonly over: string
  readonly atLeast: number
  readonly case: string
  readonly metrics: readonly Metric[]
  readonly alpha: number
  /** How often the data may be looked at, all of which alpha pays for. */
  readonly looks: number
  readonly budget: number
}
