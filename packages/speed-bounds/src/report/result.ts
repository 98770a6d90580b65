import type { Claim, ResolvedRace } from '../options/resolved.ts'
import { type HeatOrder, type IdleState, type Metric, METRICS } from '../options/types.ts'
import type { Profile } from '../profile/profile.ts'
import { costOfProcess } from '../statistics/comparison.ts'
import { countRounds } from '../statistics/counted-rounds.ts'
import type { Bottleneck, Round } from '../statistics/measured-round.ts'
import { trimmedMean } from '../statistics/samples.ts'
import { undisturbedRounds } from '../statistics/undisturbed-rounds.ts'
import { type Decision, type Estimate, judge } from '../statistics/verdict.ts'
import type { Environment } from './environment.ts'
import type { Latency } from './latency-histograms.ts'

/** The result of a race as one JSON document. `result.schema.json` describes it. */
export interface RaceResult {
  readonly version: 2
  readonly startedAt: string
  readonly finishedAt: string
  readonly environment: Environment
  readonly subjects: readonly { readonly name: string; readonly command: string }[]
  readonly cases: readonly {
    readonly name: string
    readonly method: string
    readonly path: string
    readonly status: number
  }[]
  readonly load: {
    readonly generator: string
    /** Microseconds between two polls of a generator that stayed awake. 0: it slept until a response came. */
    readonly busyPoll: number
    readonly connections: number
    readonly pipelining: number
    /** Milliseconds of a round. */
    readonly duration: number
    /** Requests of a round with a fixed number of them. */
    readonly amount: number | null
  }
  readonly method: {
    readonly replicas: number
    readonly cycles: number
    /** State of a subject while others are measured. */
    readonly idle: IdleState
    /** Whether all processes of a stage lived at the same time, or one of each subject. */
    readonly heats: HeatOrder
    /** Length of a turn in milliseconds. Without turns, the length of a round. */
    readonly turn: number
    readonly alpha: number
    readonly seed: number
    /** Measured stages. */
    readonly stages: number
    readonly maxForeignCpu: number
  }
  readonly summaries: readonly Summary[]
  /** The first subject against each other one, by case and metric, with intervals for a single look. */
  readonly ratios: readonly ({ readonly contender: string; readonly over: string; readonly case: string } & Estimate)[]
  readonly claims: readonly ({
    readonly contender: string
    readonly over: string
    readonly case: string
    readonly atLeast: number
    readonly alpha: number
  } & Pick<Decision, 'verdict' | 'estimates' | 'missing'>)[]
  readonly discarded: { readonly 'foreign-cpu': number }
  readonly rounds: readonly Round[]
  /** CPU profiles, with `--profile` only. */
  readonly profiles?: readonly Profile[]
}

/** Measurements of one subject and one case. */
export interface Summary {
  readonly subject: string
  readonly case: string
  /** Means over the processes. */
  readonly mean: Readonly<Record<(typeof SUMMARIZED)[number], number>>
  /** Per process, in the order of their numbers. */
  readonly replicas: readonly ({ readonly replica: number } & Readonly<Record<(typeof SUMMARIZED)[number], number>>)[]
  /** Counted rounds, and discarded ones. */
  readonly rounds: number
  readonly discarded: number
  /** Counted rounds by their bottleneck. */
  readonly bottleneck: Readonly<Record<Bottleneck, number>>
  /** Mean share of the time in which the server had work. */
  readonly utilization: number
  /** Missing if the generator was wrk. */
  readonly latency?: Latency
}

const SUMMARIZED = ['cpu', 'throughput', 'p50', 'p90', 'p99', 'rss', 'peakRss'] as const

/** The parts of a result. */
export interface RaceRecord {
  readonly race: ResolvedRace
  readonly environment: Environment
  readonly startedAt: Date
  readonly rounds: readonly Round[]
  readonly decisions: readonly Decision[]
  readonly statuses: ReadonlyMap<string, number>
  readonly latencyOf?: (subject: string, testCase: string, countsAll: boolean) => Latency | undefined
  readonly stages: number
  readonly profiles?: readonly Profile[]
}

export function toResult(record: RaceRecord): RaceResult {
  const { race, environment, startedAt, rounds, decisions, statuses } = record
  return {
    version: 2,
    startedAt: startedAt.toISOString(),
    finishedAt: new Date().toISOString(),
    environment,
    subjects: race.subjects.map(({ name, label }) => ({ name, command: label })),
    cases: race.cases.map(({ name, method, path }) => ({ name, method, path, status: statuses.get(name) ?? 0 })),
    load: loadOf(race),
    method: methodOf(record),
    summaries: race.cases.flatMap((testCase) =>
      race.subjects.flatMap(({ name }) => {
        const summary = summarize(rounds, name, testCase.name)
        const latency = record.latencyOf?.(name, testCase.name, summary?.discarded === 0)
        return summary ? { ...summary, ...(latency && { latency }) } : []
      }),
    ),
    ratios: race.cases.flatMap((testCase) => ratiosOf(race, rounds, testCase.name)),
    claims: decisions.map(({ claim: { contender, over, case: name, atLeast, alpha }, ...decided }) => ({
      ...{ contender, over, case: name, atLeast, alpha },
      ...decided,
    })),
    discarded: { 'foreign-cpu': rounds.filter(({ discarded }) => discarded).length },
    rounds,
    ...(record.profiles?.length ? { profiles: record.profiles } : {}),
  }
}

function loadOf({ load }: ResolvedRace): RaceResult['load'] {
  const { generator, busyPoll, connections, pipelining, duration, amount } = load
  return { generator, busyPoll, connections, pipelining, duration, amount: amount ?? null }
}

function methodOf({ race, stages }: RaceRecord): RaceResult['method'] {
  const { replicas, cycles, idle, heats, turn, alpha, seed, maxForeignCpu } = race
  return { replicas, cycles, idle, heats, turn, alpha, seed, stages, maxForeignCpu }
}

/** The first subject against each other one, by all metrics. */
function ratiosOf(race: ResolvedRace, rounds: readonly Round[], name: string): RaceResult['ratios'] {
  const [first, ...others] = race.subjects.map((subject) => subject.name)
  return others.flatMap((other) =>
    METRICS.flatMap((metric) => {
      const claim = claimOfEquality(race, first!, other, name, metric)
      return judge(claim, rounds).estimates.map((estimate) => ({
        contender: first!,
        over: other,
        case: name,
        ...estimate,
      }))
    }),
  )
}

function claimOfEquality(
  { alpha, budget }: ResolvedRace,
  contender: string,
  over: string,
  name: string,
  metric: Metric,
): Claim {
  return { contender, over, case: name, atLeast: 1, metrics: [metric], alpha, budget }
}

function summarize(rounds: readonly Round[], subject: string, name: string): Summary | undefined {
  const all = rounds.filter((round) => round.subject === subject && round.case === name)
  const { counted } = countRounds(all)
  if (counted.length === 0) return undefined
  const replicas = [...Map.groupBy(counted, ({ replica }) => replica)]
    .toSorted(([a], [b]) => a - b)
    .map(([replica, own]) => ({
      replica,
      ...valuesOf((measure) => valueOfProcess(own, measure)),
    }))
  const count = (bottleneck: Bottleneck): number => counted.filter((round) => round.bottleneck === bottleneck).length
  return {
    subject,
    case: name,
    mean: valuesOf((measure) => trimmedGeometricMean(replicas.map((replica) => replica[measure]))),
    replicas,
    rounds: counted.length,
    discarded: all.length - counted.length,
    bottleneck: { server: count('server'), generator: count('generator'), latency: count('latency') },
    utilization: counted.reduce((sum, { serverUtilization }) => sum + serverUtilization, 0) / counted.length,
  }
}

/** The cost of a process as in the ratios, so that figures and ratios of a table agree. */
function valueOfProcess(rounds: readonly Round[], name: (typeof SUMMARIZED)[number]): number {
  const compared = name === 'cpu' ? undisturbedRounds(rounds) : rounds
  const normalized = compared.map((round) => ({ round, baseline: 0 }))
  const cost = Math.exp(costOfProcess(normalized, name))
  return name === 'throughput' ? 1 / cost : cost
}

function valuesOf(value: (name: (typeof SUMMARIZED)[number]) => number): Record<(typeof SUMMARIZED)[number], number> {
  return Object.fromEntries(SUMMARIZED.map((name) => [name, value(name)])) as Record<
    (typeof SUMMARIZED)[number],
    number
  >
}

function trimmedGeometricMean(values: readonly number[]): number {
  return Math.exp(trimmedMean(values.map(Math.log), 0.2))
}
