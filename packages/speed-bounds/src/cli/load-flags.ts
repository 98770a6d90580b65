import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  GENERATORS,
  type GeneratorName,
  HEAT_ORDERS,
  IDLE_STATES,
  type MeasurementOptions,
  type Metric,
  METRICS,
  type RaceOptions,
} from '../options/types.ts'
import { line } from './output.ts'
import { repeatable } from './repeatable.ts'
import { time } from './time.ts'

/** The options that both commands have. Times are in milliseconds, `busyPoll` is in microseconds. */
export interface LoadFlags extends Required<MeasurementOptions> {
  path: string
  method?: string
  header: string[]
  body?: string
  connections: number
  pipelining: number
  duration: number
  amount?: number
  generator: GeneratorName
  metric?: Metric
  atLeast: number
  budget: number
  alpha: number
  replicas: number
  seed?: number
}

export function withLoadFlags(command: Command, { budget }: { budget: string }): Command {
  const milliseconds = time('ms')
  return withMeasurementFlags(
    command
      .option('--path <path>', 'path and query string', '/')
      .option('--method <method>', 'HTTP method (default: "GET")')
      .addOption(repeatable('-H, --header <name: value>', 'request header', 'none'))
      .option('--body <text>', 'request body')
      .option('-c, --connections <count>', 'open connections', count, 50)
      .option('-p, --pipelining <count>', 'pending requests on each connection', count, 1)
      .addOption(timeOption('--duration <time>', 'length of a round', milliseconds, '200ms'))
      .option('--amount <count>', 'requests in a round, instead of its length', count)
      .addOption(new Option('--generator <name>', 'load generator').choices([...GENERATORS]).default('autocannon'))
      .addOption(
        new Option('--metric <name>', 'metric that decides (default: both cpu and throughput)').choices([...METRICS]),
      )
      .option('--at-least <factor>', 'bound of the claim', positive, 1)
      .addOption(timeOption('--budget <time>', 'time limit of a claim', milliseconds, budget))
      .option('--alpha <share>', 'maximum share of wrong verdicts', positive, 0.01)
      .option('--replicas <count>', 'processes of each subject in a stage', count, 5)
      .option('--seed <integer>', 'seed of the random order of rounds', count),
  )
}

function withMeasurementFlags(command: Command): Command {
  const milliseconds = time('ms')
  return command
    .addOption(timeOption('--max-warm-up <time>', 'maximum warm-up of a process', milliseconds, '2s'))
    .addOption(timeOption('--min-warm-up <time>', 'minimum warm-up of a process', milliseconds, '1s'))
    .option('--cycles <count>', 'rounds of each process in a stage', count, 8)
    .option('--stages <count>', 'maximum stages of a claim, each with fresh processes', count, 3)
    .addOption(
      new Option('--heats <order>', 'whether all processes live at the same time, or one of each subject')
        .choices([...HEAT_ORDERS])
        .default('interleaved'),
    )
    .addOption(timeOption('--turn <time>', 'length of a turn in rounds that are longer', milliseconds, '200ms'))
    .addOption(
      new Option('--idle <state>', 'state of a subject while others are measured')
        .choices([...IDLE_STATES])
        .default('paused'),
    )
    .addOption(timeOption('--busy-poll <time>', "interval of the generator's busy poll", time('us'), '0us'))
    .option('--max-foreign-cpu <cores>', 'CPU of other programs above which a round is discarded', positive, 1)
}

/** The options of a race, from the flags. */
export function optionsOf({ header, metric: _metric, atLeast: _atLeast, ...flags }: LoadFlags): RaceOptions {
  const { maxWarmUp, minWarmUp, cycles, stages, heats, turn, idle, busyPoll, maxForeignCpu, ...options } = flags
  return {
    ...options,
    headers: headersOf(header),
    measurement: { maxWarmUp, minWarmUp, cycles, stages, heats, turn, idle, busyPoll, maxForeignCpu },
    onProgress: line.show,
  }
}

/** Lines such as `name: value`, as an object. */
export function headersOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((text) => {
      const [name, ...value] = text.split(':')
      return [name!.trim(), value.join(':').trim()]
    }),
  )
}

/** An option with a default that is shown with its unit. */
export function timeOption(
  flags: string,
  description: string,
  parse: (text: string) => number,
  standard: string,
): Option {
  return new Option(flags, description).argParser(parse).default(parse(standard), standard)
}

export function count(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('Expected an integer of at least 1.')
  return value
}

export function positive(text: string): number {
  const value = Number(text)
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError('Expected a number above 0.')
  return value
}
