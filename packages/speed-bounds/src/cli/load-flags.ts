import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  GENERATORS,
  type GeneratorName,
  HEAT_ORDERS,
  type HeatOrder,
  IDLE_STATES,
  type IdleState,
  type Metric,
  METRICS,
  type RaceOptions,
} from '../options/types.ts'
import { line } from './output.ts'

export interface LoadFlags {
  path: string
  method?: string
  header: string[]
  body?: string
  connections: number
  pipelining: number
  duration: number
  turn: number
  amount?: number
  generator: GeneratorName
  busyPoll?: number
  metric?: Metric
  atLeast: number
  budget: number
  alpha: number
  replicas: number
  cycles: number
  stages: number
  warmUp: number
  leastWarmUp: number
  idle: IdleState
  heats: HeatOrder
  maxForeignCpu: number
  seed?: number
}

/** Adds the options that both commands have. */
export function withLoadFlags(command: Command, { budget }: { budget: number }): Command {
  return command
    .option('--path <path>', 'what to request', '/')
    .option('--method <method>', 'HTTP method')
    .option(
      '-H, --header <name: value>',
      'request header, repeatable',
      (value: string, all: string[]) => [...all, value],
      [],
    )
    .option('--body <text>', 'request body')
    .option('-c, --connections <count>', 'connections kept open', count, 50)
    .option('-p, --pipelining <count>', 'requests under way on each connection', count, 1)
    .option('--duration <ms>', 'length of a round in milliseconds', positive, 200)
    .option('--turn <ms>', 'length of a turn: servers are under load by turns where rounds are longer', count, 200)
    .option('--amount <count>', 'requests in a round, in place of its length', count)
    .addOption(new Option('--generator <name>', 'load generator').choices([...GENERATORS]).default('autocannon'))
    .option('--busy-poll <microseconds>', 'time between two looks of a generator that stays awake', count)
    .addOption(
      new Option('--metric <name>', 'what is compared (default: cpu and throughput, both)').choices([...METRICS]),
    )
    .option('--at-least <factor>', 'the bound', positive, 1)
    .option('--budget <seconds>', 'time that a claim may take', positive, budget)
    .option('--alpha <share>', 'share of wrong verdicts that is accepted', positive, 0.01)
    .option('--replicas <count>', 'processes of each subject in a stage', count, 5)
    .option('--cycles <count>', 'visits of each process in a stage', count, 6)
    .option('--stages <count>', 'stages of fresh processes that a claim may take', count, 3)
    .option('--warm-up <ms>', 'longest warm-up of a process in milliseconds', count, 2000)
    .option('--least-warm-up <ms>', 'least warm-up of a process for its first case in milliseconds', count, 1200)
    .addOption(
      new Option('--idle <state>', 'what servers do while others are measured')
        .choices([...IDLE_STATES])
        .default('paused'),
    )
    .addOption(
      new Option('--heats <order>', 'whether all processes live at once, or one of each server after the other')
        .choices([...HEAT_ORDERS])
        .default('interleaved'),
    )
    .option('--max-foreign-cpu <cores>', 'CPU of other programs above which a round is discarded', positive, 1)
    .option('--seed <integer>', 'repeats an order of rounds', count)
}

/** The options of a race, from the flags. */
export function optionsOf({ header, budget, metric: _metric, atLeast: _atLeast, ...flags }: LoadFlags): RaceOptions {
  const headers = header.map((text) => {
    const [name, ...value] = text.split(':')
    return [name!.trim(), value.join(':').trim()]
  })
  return { ...flags, budget: Math.round(budget * 1000), headers: Object.fromEntries(headers), onProgress: line.show }
}

export function count(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('Expected an integer >= 1.')
  return value
}

function positive(text: string): number {
  const value = Number(text)
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError('Expected a number > 0.')
  return value
}
