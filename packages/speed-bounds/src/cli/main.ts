#!/usr/bin/env node
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { adviceText, judgementText, ratio } from '../report/format.ts'
import { SpeedBoundsError } from '../errors.ts'
import { isOnPath } from '../load/generator.ts'
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
  type Subject,
} from '../options/resolve.ts'
import { besideThis } from '../sibling-module.ts'
import { progressLine } from '../report/progress-line.ts'
import { race } from '../race/race.ts'
import { selfCheck } from './self-check.ts'
import { colour, toMarkdown, toTerminal } from '../report/tables.ts'
import type { Verdict } from '../statistics/verdict.ts'

/** Results go to stdout, progress to stderr. */
const line = progressLine()

const EXIT = { holds: 0, broken: 1, usage: 2, inconclusive: 3, failed: 4, interrupted: 130 }

interface LoadFlags {
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

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

const program = new Command('speed-bounds')
  .description('hyperfine for HTTP servers: says that A is at least N times as fast as B, and is right')
  .version(version)
  .exitOverride()
  .configureHelp({ showGlobalOptions: true })

withLoadFlags(program.command('race'), { budget: 60 })
  .description('race the first server against each of the others')
  .argument('<subjects...>', 'a script that Node runs, or a quoted command line; name=... gives it a name')
  .option('--json <file>', 'write the result document')
  .option('--markdown <file>', 'write the tables as Markdown')
  .addHelpText(
    'after',
    `
Subjects read HOST and PORT, or take {host} and {port} in their command line:
  speed-bounds race fastify.ts express.ts --at-least 1.5
  speed-bounds race 'go=./server --listen {host}:{port}' node=server.js --metric cpu

Exit code: 0 every claim holds, 1 one is broken, 3 one is inconclusive, 2 wrong usage, 4 the race failed.`,
  )
  .action(runRace)

withLoadFlags(program.command('self-check'), { budget: 15 })
  .description('race a server against itself: how often is this machine wrong, and what can it see?')
  .argument('[subject]', 'the server; a bare node:http one when left out')
  .option('-n, --tries <count>', 'how many races', count, 10)
  .action(runSelfCheck)

process.once('SIGINT', () => {
  // The warden ends the subjects when this process is gone.
  line.clear()
  process.exit(EXIT.interrupted)
})

try {
  await program.parseAsync()
} catch (error) {
  line.clear()
  process.exitCode = exitCodeOf(error)
}

async function runRace(
  subjects: string[],
  { json, markdown, ...flags }: LoadFlags & { json?: string; markdown?: string },
): Promise<void> {
  const named = Object.fromEntries(subjects.map(nameOf))
  if (Object.keys(named).length < subjects.length)
    throw new SpeedBoundsError('SPEED_BOUNDS_INVALID_OPTION', 'Expected subjects to have different names: use name=...')
  for (const file of [json, markdown]) if (file) writeFileSync(file, '') // a wrong path is told now, not after the race
  const match = race(named, optionsOf(flags))
  const verdicts: Verdict[] = []
  const canUseWrk = flags.generator !== 'wrk' && isOnPath('wrk')
  for (const over of match.subjects.slice(1)) {
    const judgement = await match.decide(over, {
      atLeast: flags.atLeast,
      ...(flags.metric ? { metric: flags.metric } : {}),
    })
    verdicts.push(judgement.verdict)
    const advice = adviceText(judgement, canUseWrk)
    if (advice) print(advice)
  }
  const result = match.result()
  line.clear()
  print(toTerminal(result))
  if (json) writeFileSync(json, `${JSON.stringify(result, null, 2)}\n`)
  if (markdown) writeFileSync(markdown, toMarkdown(result))
  process.exitCode =
    EXIT[verdicts.includes('broken') ? 'broken' : verdicts.includes('inconclusive') ? 'inconclusive' : 'holds']
}

async function runSelfCheck(
  subject: string | undefined,
  { tries, ...flags }: LoadFlags & { tries: number },
): Promise<void> {
  const [, server] = subject === undefined ? ['', besideThis('./self-check-server', import.meta.url)] : nameOf(subject)
  let number = 0
  const outcome = await selfCheck(server, {
    ...optionsOf(flags),
    tries,
    atLeast: flags.atLeast,
    ...(flags.metric ? { metric: flags.metric } : {}),
    onTry(judgement) {
      print(colour(judgement.verdict, `${++number}/${tries} ${judgementText(judgement)}`))
    },
  })
  line.clear()
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
  print(
    [
      `${outcome.tries} races of a server against itself, claim: at least ${ratio(flags.atLeast)}`,
      `  verdicts: ${outcome.held} holds, ${outcome.broken} broken, ${outcome.tries - outcome.held - outcome.broken} inconclusive`,
      `  false positives (an interval that misses 1): ${outcome.wrong} of ${outcome.tries} (${percent(outcome.falsePositiveRate)}, accepted ${percent(flags.alpha)})`,
      `  smallest effect seen four times out of five: ${outcome.smallestEffect < 11 ? percent(outcome.smallestEffect - 1) : 'none below 1000 %'}`,
    ].join('\n'),
  )
  process.exitCode = outcome.isSuspect || (flags.atLeast > 1 && outcome.held > 0) ? EXIT.broken : EXIT.holds
}

function withLoadFlags(command: Command, { budget }: { budget: number }): Command {
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

function optionsOf({ header, budget, metric: _metric, atLeast: _atLeast, ...flags }: LoadFlags): RaceOptions {
  const headers = header.map((text) => {
    const [name, ...value] = text.split(':')
    return [name!.trim(), value.join(':').trim()]
  })
  return { ...flags, budget: Math.round(budget * 1000), headers: Object.fromEntries(headers), onProgress: line.show }
}

/** `server.ts`, `name=server.ts`, `name=./server --port {port}` */
function nameOf(text: string): [string, Subject] {
  const [, name, rest = ''] = existsSync(text) ? [text, undefined, text] : (/^(?:([\w.-]+)=)?(.*)$/s.exec(text) ?? [])
  if (existsSync(rest)) return [name ?? basename(rest, extname(rest)), rest]
  const words = rest.match(/"[^"]*"|'[^']*'|\S+/g)?.map((word) => word.replace(/^(["'])(.*)\1$/, '$2')) ?? []
  const [command, ...args] = words
  if (command === undefined || (args.length === 0 && name === undefined)) {
    throw new SpeedBoundsError(
      'SPEED_BOUNDS_INVALID_OPTION',
      `Expected a subject to be a file that exists or a command line, got '${text}'`,
    )
  }
  return [name ?? basename(command), { command: [command, ...args] }]
}

function print(text: string): void {
  line.clear()
  process.stdout.write(`${text}\n`)
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage
  if (!(error instanceof SpeedBoundsError)) {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
    return EXIT.failed
  }
  process.stderr.write(`${error.code}: ${error.message}\n`)
  return error.code === 'SPEED_BOUNDS_INVALID_OPTION' ? EXIT.usage : EXIT.failed
}

function count(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('Expected an integer >= 1.')
  return value
}

function positive(text: string): number {
  const value = Number(text)
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError('Expected a number > 0.')
  return value
}
