import type { Environment } from '../report/environment.ts'
import { FUNCTION_METRICS } from '../options/function-options.ts'
import type { Claim } from '../options/resolved.ts'
import { costOfProcess } from '../statistics/comparison.ts'
import { countRounds } from '../statistics/counted-rounds.ts'
import type { Round } from '../statistics/measured-round.ts'
import { trimmedMean } from '../statistics/samples.ts'
import { type Decision, type Estimate, judge } from '../statistics/verdict.ts'

/** The result of a race of functions as one JSON document. `functions.schema.json` describes it. */
export interface FunctionRaceResult {
  readonly version: 1
  readonly kind: 'functions'
  readonly startedAt: string
  readonly finishedAt: string
  readonly environment: Environment
  /** The file and its group, or `functions`. */
  readonly name: string
  /** Path of the file, from the working directory. Null for inline functions. */
  readonly file: string | null
  readonly method: {
    /** Milliseconds of each process. */
    readonly warmUp: number
    readonly duration: number
    /** Maximum processes of each function. */
    readonly replicas: number
    /** Time limit of a claim, in milliseconds. */
    readonly budget: number
    readonly alpha: number
    readonly seed: number
    /** Maximum looks at the data, which share alpha. */
    readonly looks: number
    readonly maxForeignCpu: number
  }
  readonly functions: readonly FunctionSummary[]
  /** The first function against each other one, by metric, with intervals for a single look. */
  readonly ratios: readonly FunctionRatio[]
  readonly claims: readonly (Pick<Claim, 'contender' | 'over' | 'atLeast' | 'alpha'> &
    Pick<Decision, 'verdict' | 'estimates' | 'missing'>)[]
  /** One per process: `responses` are calls. */
  readonly rounds: readonly Round[]
}

/** How much better one function is than another one, by one metric. */
export type FunctionRatio = Pick<Claim, 'contender' | 'over'> & Estimate

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

/** The first function against each other one, by CPU and calls per second. */
export function ratiosOfFunctions(
  { names, label }: { readonly names: readonly string[]; readonly label: string },
  rounds: readonly Round[],
  { alpha, budget }: Pick<Claim, 'alpha' | 'budget'>,
): FunctionRatio[] {
  const [contender, ...others] = names
  return others.flatMap((over) =>
    FUNCTION_METRICS.flatMap((metric) => {
      const claim = { contender: contender!, over, atLeast: 1, case: label, metrics: [metric], alpha, budget }
      return judge(claim, rounds).estimates.map((estimate) => ({ contender: contender!, over, ...estimate }))
    }),
  )
}
