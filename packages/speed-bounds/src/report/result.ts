import type { Environment } from './environment.ts'
import {
  type Claim,
  type HeatOrder,
  type IdleState,
  type Metric,
  METRICS,
  type ResolvedRace,
} from '../options/resolve.ts'
import type { Bottleneck, Round } from '../statistics/round.ts'
import { mostLooks } from '../race/schedule.ts'
import { trimmedMean } from '../statistics/samples.ts'
import { costOfProcess, type Estimate, judge, type Judgement } from '../statistics/verdict.ts'

/** Everything that a race found, as one JSON document; `result.schema.json` describes it. */
export interface RaceResult {
  readonly version: 1
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
    /** Microseconds between two looks of a generator that stayed awake; 0 for one that slept until an answer came. */
    readonly busyPoll: number
    readonly connections: number
    readonly pipelining: number
    /** Milliseconds of a round. */
    readonly duration: number
    /** Requests of a round, when they and not the time set its length. */
    readonly amount: number | null
  }
  readonly method: {
    readonly replicas: number
    readonly cycles: number
    /** What a subject does while others are measured. */
    readonly idle: IdleState
    /** Whether all processes of a stage lived at once, or one of each subject at a time. */
    readonly heats: HeatOrder
    /** Milliseconds that a subject was under load at a time; as many as a round has where they took no turns. */
    readonly turn: number
    readonly alpha: number
    readonly seed: number
    /** Stages of fresh processes that were run. */
    readonly stages: number
    /** Looks at the data that alpha pays for. */
    readonly looks: number
    readonly maxForeignCpu: number
  }
  readonly summaries: readonly Summary[]
  /** The first subject against each other one, by case and metric, with intervals for one look at the end. */
  readonly ratios: readonly ({ readonly contender: string; readonly over: string; readonly case: string } & Estimate)[]
  readonly claims: readonly ({
    readonly contender: string
    readonly over: string
    readonly case: string
    readonly atLeast: number
    readonly alpha: number
  } & Pick<Judgement, 'verdict' | 'estimates'>)[]
  readonly discarded: { readonly 'foreign-cpu': number }
  readonly rounds: readonly Round[]
}

/** What one subject did with one case. */
export interface Summary {
  readonly subject: string
  readonly case: string
  /** Means over the processes. */
  readonly mean: Readonly<Record<(typeof SUMMARISED)[number], number>>
  /** Per process, in the order of their numbers. */
  readonly replicas: readonly ({ readonly replica: number } & Readonly<Record<(typeof SUMMARISED)[number], number>>)[]
  /** Rounds that counted, and those that did not. */
  readonly rounds: number
  readonly discarded: number
  /** How many of the counted rounds were limited by what. */
  readonly bottleneck: Readonly<Record<Bottleneck, number>>
  /** Mean share of the time in which the server had work. */
  readonly utilisation: number
}

const SUMMARISED = ['cpu', 'throughput', 'p50', 'p90', 'p99', 'rss', 'peakRss'] as const

/** What the document is made from. */
export interface RaceRecord {
  readonly race: ResolvedRace
  readonly environment: Environment
  readonly startedAt: Date
  readonly rounds: readonly Round[]
  readonly judgements: readonly Judgement[]
  readonly statuses: ReadonlyMap<string, number>
  readonly stages: number
}

export function toResult({
  race,
  environment,
  startedAt,
  rounds,
  judgements,
  statuses,
  stages,
}: RaceRecord): RaceResult {
  const { generator, busyPoll, connections, pipelining, duration, amount } = race.load
  const [first, ...others] = race.subjects
  return {
    version: 1,
    startedAt: startedAt.toISOString(),
    finishedAt: new Date().toISOString(),
    environment,
    subjects: race.subjects.map(({ name, label }) => ({ name, command: label })),
    cases: race.cases.map(({ name, method, path }) => ({ name, method, path, status: statuses.get(name) ?? 0 })),
    load: { generator, busyPoll, connections, pipelining, duration, amount: amount ?? null },
    method: {
      replicas: race.replicas,
      cycles: race.cycles,
      idle: race.idle,
      heats: race.heats,
      turn: race.turn,
      alpha: race.alpha,
      seed: race.seed,
      stages,
      looks: mostLooks(race.stages),
      maxForeignCpu: race.maxForeignCpu,
    },
    summaries: race.cases.flatMap((kase) =>
      race.subjects.flatMap(({ name }) => summarise(rounds, name, kase.name) ?? []),
    ),
    ratios: race.cases.flatMap((kase) =>
      others.flatMap((other) =>
        METRICS.flatMap((metric) => {
          const claim = claimOfEquality(race, first!.name, other.name, kase.name, metric)
          return judge(claim, rounds).estimates.map((estimate) => ({
            contender: first!.name,
            over: other.name,
            case: kase.name,
            ...estimate,
          }))
        }),
      ),
    ),
    claims: judgements.map(({ claim, verdict, estimates }) => ({
      contender: claim.contender,
      over: claim.over,
      case: claim.case,
      atLeast: claim.atLeast,
      alpha: claim.alpha,
      verdict,
      estimates,
    })),
    discarded: { 'foreign-cpu': rounds.filter(({ discarded }) => discarded).length },
    rounds,
  }
}

function claimOfEquality(
  { alpha, budget }: ResolvedRace,
  contender: string,
  over: string,
  kase: string,
  metric: Metric,
): Claim {
  return { contender, over, case: kase, atLeast: 1, metrics: [metric], alpha, looks: 1, budget }
}

function summarise(rounds: readonly Round[], subject: string, kase: string): Summary | undefined {
  const all = rounds.filter((round) => round.subject === subject && round.case === kase)
  const kept = all.filter(({ discarded }) => !discarded)
  if (kept.length === 0) return undefined
  const replicas = [...Map.groupBy(kept, ({ replica }) => replica)]
    .toSorted(([a], [b]) => a - b)
    .map(([replica, own]) => ({
      replica,
      ...valuesOf((name) => valueOfProcess(own, name)),
    }))
  const count = (bottleneck: Bottleneck): number => kept.filter((round) => round.bottleneck === bottleneck).length
  return {
    subject,
    case: kase,
    mean: valuesOf((name) => geometricMean(replicas.map((replica) => replica[name]))),
    replicas,
    rounds: kept.length,
    discarded: all.length - kept.length,
    bottleneck: { server: count('server'), generator: count('generator'), latency: count('latency') },
    utilisation: kept.reduce((sum, { serverUtilisation }) => sum + serverUtilisation, 0) / kept.length,
  }
}

/** As the ratios have it, so that a table's figures and its ratios agree. */
function valueOfProcess(rounds: readonly Round[], name: (typeof SUMMARISED)[number]): number {
  const visits = rounds.map((round) => ({ round, level: 0 }))
  const cost = Math.exp(costOfProcess(visits, name))
  return name === 'throughput' ? 1 / cost : cost
}

function valuesOf(value: (name: (typeof SUMMARISED)[number]) => number): Record<(typeof SUMMARISED)[number], number> {
  return Object.fromEntries(SUMMARISED.map((name) => [name, value(name)])) as Record<
    (typeof SUMMARISED)[number],
    number
  >
}

/** Without the extremes. */
function geometricMean(values: readonly number[]): number {
  return Math.exp(trimmedMean(values.map(Math.log), 0.2))
}
