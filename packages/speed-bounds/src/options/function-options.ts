// Options of races of functions: types, checks, defaults.

import {
  func,
  integer,
  list,
  milliseconds,
  number,
  object,
  optional,
  type OptionsSchema,
  record,
  type Schema,
  string,
} from 'checked-options'
import { resolve } from 'node:path'
import { assertOption, check } from './check.ts'
import type { Claim } from './resolved.ts'
import { alpha, claimSchema, text } from './schema.ts'
import type { ClaimOptions, Metric, Progress } from './types.ts'

/** Options of a race of functions. Times are in milliseconds. */
export interface FunctionRaceOptions {
  /** Group of functions in the file. @default the only one */
  group?: string
  /** Calls of a process before it is measured. @default 250 */
  warmUp?: number
  /** Measured calls of a process. @default 250 */
  duration?: number
  /** Maximum processes of each function. @default 48 */
  replicas?: number
  /** Maximum share of wrong verdicts, over all looks at the data. @default 0.01 */
  alpha?: number
  /** Time limit of one claim, starts of processes included. @default 30000 */
  budget?: number
  /** Time limit of the first call, the import of its file included. @default 10000 */
  callTimeout?: number
  /** CPU of other programs above which a process is discarded, in cores. Of CPU that a hypervisor gave to other guests, three tenths of it suffice. @default 1 */
  maxForeignCpu?: number
  /** Options for Node, such as `--max-semi-space-size=32`. @default [] */
  nodeArgs?: readonly string[]
  /** Environment variables, in addition to those of this process. @default {} */
  env?: Readonly<Record<string, string>>
  /** Working directory. @default process.cwd() */
  cwd?: string
  /** Seed of the random order of processes, to repeat it. @default random */
  seed?: number
  /** Called before each process. @default none */
  onProgress?: (progress: Progress) => void
}

type WithDefault = 'warmUp' | 'duration' | 'replicas' | 'alpha' | 'budget' | 'callTimeout' | 'maxForeignCpu'

type CheckedFunctionRaceOptions = FunctionRaceOptions &
  Required<Pick<FunctionRaceOptions, WithDefault | 'nodeArgs' | 'env'>>

const directory: Schema<string> = string('a path')

export const functionRaceSchema: OptionsSchema<FunctionRaceOptions, CheckedFunctionRaceOptions> = object({
  group: optional(text),
  warmUp: optional(milliseconds(10), 250),
  duration: optional(milliseconds(10), 250),
  replicas: optional(integer(3), 48),
  alpha: optional(alpha, 0.01),
  budget: optional(milliseconds(), 30_000),
  callTimeout: optional(milliseconds(), 10_000),
  maxForeignCpu: optional(number(0), 1),
  nodeArgs: optional(list(text), [] as string[]),
  env: optional(record(text), {}),
  cwd: optional(directory),
  seed: optional(integer()),
  onProgress: optional(func<NonNullable<FunctionRaceOptions['onProgress']>>()),
})

export interface ResolvedFunctionRace extends Required<Omit<FunctionRaceOptions, 'group'>> {
  readonly group: string | undefined
}

export function resolveFunctionRace(options: FunctionRaceOptions): ResolvedFunctionRace {
  const checked = check(functionRaceSchema, options)
  return {
    ...checked,
    group: checked.group,
    cwd: resolve(checked.cwd ?? '.'),
    seed: checked.seed ?? Math.trunc(Math.random() * 2 ** 31),
    onProgress: checked.onProgress ?? (() => {}),
  }
}

/** Metrics of functions. */
export const FUNCTION_METRICS: readonly Metric[] = ['cpu', 'throughput']

/** A claim about functions with these names. Errors put `prefix` before the names of its options. */
export function resolveFunctionClaim(
  race: ResolvedFunctionRace,
  { names, label, group }: { names: readonly string[]; label: string; group?: string },
  over: string,
  options: ClaimOptions,
  prefix = '',
): Claim {
  const claim = check(claimSchema, options)
  const contender = claim.contender ?? names.find((name) => name !== over) ?? over
  assertOption(names.includes(contender), `${prefix}contender`, `one of ${names.join(', ')}`, contender)
  const others = names.filter((name) => name !== contender)
  const expected = others.length > 0 ? `one of ${others.join(', ')}` : `a second function beside ${contender}`
  assertOption(others.includes(over), `${prefix}over`, expected, over)
  assertOption(
    claim.case === undefined || claim.case === group,
    `${prefix}case`,
    group === undefined ? 'no case, because the functions have no groups' : `the raced group, "${group}"`,
    claim.case,
  )
  const { metric } = claim
  assertOption(
    metric === undefined || FUNCTION_METRICS.includes(metric),
    'metric',
    '"cpu" or "throughput" of functions',
    metric,
  )
  const metrics = metric ? [metric] : FUNCTION_METRICS
  const { alpha: share = race.alpha, budget = race.budget } = claim
  return { contender, over, atLeast: claim.atLeast, case: label, metrics, alpha: share, budget, unit: 'call' }
}
