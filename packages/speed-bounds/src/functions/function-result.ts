import type { Environment } from '../report/environment.ts'
import type { Claim } from '../options/resolved.ts'
import { costOfProcess } from '../statistics/comparison.ts'
import { countRounds } from '../statistics/counted-rounds.ts'
import type { Round } from '../statistics/measured-round.ts'
import { trimmedMean } from '../statistics/samples.ts'
import type { Decision } from '../statistics/verdict.ts'

/** The result of a race of functions as one JSON document. */
export interface FunctionRaceResult {
  readonly version: 1
  readonly kind: 'functions'
  readonly startedAt: string
  readonly finishedAt: string
  readonly environment: Environment
  /** The file and its group, or `functions`. */
  readonly name: string
  readonly method: {
    /** Milliseconds of each process. */
    readonly warmUp: number
    readonly duration: number
    readonly alpha: number
    readonly seed: number
    /** Maximum looks at the data, which share alpha. */
    readonly looks: number
    readonly maxForeignCpu: number
  }
  readonly functions: readonly FunctionSummary[]
  readonly claims: readonly (Pick<Claim, 'contender' | 'over' | 'atLeast' | 'alpha'> &
    Pick<Decision, 'verdict' | 'estimates' | 'missing'>)[]
  /** One per process: `responses` are calls. */
  readonly rounds: readonly Round[]
}

/** Measurements of one function: means over its processes. */
export interface FunctionSummary {
  readonly name: string
  /** Microseconds of CPU per call. */
  readonly cpu: number
  /** Calls per second. */
  readonly throughput: number
  readonly processes: number
  readonly discarded: number
}

export function summarizeFunction(name: string, rounds: readonly Round[]): FunctionSummary | undefined {
  const all = rounds.filter(({ subject }) => subject === name)
  const { counted } = countRounds(all)
  if (counted.length === 0) return undefined
  const mean = (metric: 'cpu' | 'throughput'): number =>
    Math.exp(
      trimmedMean(
        counted.map((round) => costOfProcess([{ round, baseline: 0 }], metric)),
        0.2,
      ),
    )
  return {
    ...{ name, cpu: mean('cpu'), throughput: 1 / mean('throughput') },
    ...{ processes: counted.length, discarded: all.length - counted.length },
  }
}
