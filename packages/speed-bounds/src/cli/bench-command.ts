import { type Command, Option } from 'commander'
import { existsSync, globSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { errorCodes } from '../errors.ts'
import type { FunctionRaceResult } from '../functions/function-result.ts'
import { type Benchmark, loadBenchmarks } from '../functions/load-benchmarks.ts'
import type { Metric } from '../options/types.ts'
import { adviceOnce, decisionText } from '../report/claim-sentences.ts'
import { functionTable } from '../report/function-table.ts'
import { color } from '../report/tables.ts'
import { wrap } from '../report/terminal-width.ts'
import type { Verdict } from '../statistics/verdict.ts'
import { exitCodeOf } from './exit-codes.ts'
import { interruptible } from './interruption.ts'
import { count, positive } from './load-flags.ts'
import { line, print, terminal } from './output.ts'
import { assertOutputFiles, type OutputFiles, withOutputFiles, writeOutputFiles } from './output-files.ts'
import { time } from './time.ts'

const PATTERN = '**/*.bench.{js,mjs,ts,mts}'

const EXAMPLES = `
A benchmark file exports functions by name, or groups of them:
  export default { ours: () => parse(text), theirs: () => JSON.parse(text) }
  export const claims = [{ over: 'theirs', atLeast: 1.2 }]

  speed-bounds bench 'src/**/*.bench.ts'
  speed-bounds bench parse.bench.ts --at-least 1.2

Without claims, the first function is compared with each of the others, and the
exit code is 0. Exit code of claims: 0 every one holds, 1 one is broken, 3 one
is inconclusive. 2 wrong usage or file, 4 a function failed, 130 interrupted.`

interface BenchFlags extends OutputFiles {
  atLeast?: number
  metric?: Metric
  budget: number
  alpha: number
  replicas: number
  warmUp: number
  duration: number
  maxForeignCpu: number
  seed?: number
}

export function addBenchCommand(program: Command): void {
  const milliseconds = time('ms')
  const timeOption = (flags: string, text: string, standard: string): Option =>
    new Option(flags, text).argParser(milliseconds).default(milliseconds(standard), standard)
  withOutputFiles(program.command('bench'))
    .description('race the functions of benchmark files, each in fresh processes')
    .argument('[files...]', 'files or patterns', [PATTERN])
    .option('--at-least <factor>', 'claim of the first function over each of the others', positive)
    .addOption(new Option('--metric <name>', 'metric that decides (default: both)').choices(['cpu', 'throughput']))
    .addOption(timeOption('--budget <time>', 'time limit of a claim', '30s'))
    .option('--alpha <share>', 'maximum share of wrong verdicts', positive, 0.01)
    .option('--replicas <count>', 'maximum processes of each function', count, 48)
    .addOption(timeOption('--warm-up <time>', 'calls of a process before it is measured', '250ms'))
    .addOption(timeOption('--duration <time>', 'measured calls of a process', '250ms'))
    .option('--max-foreign-cpu <cores>', 'CPU of other programs above which a process is discarded', positive, 1)
    .option('--seed <integer>', 'seed of the random order of processes', count)
    .addHelpText('after', EXAMPLES)
    .action(runBench)
}

async function runBench(
  patterns: string[],
  { atLeast, metric, json, markdown, html, csv, ...options }: BenchFlags,
): Promise<void> {
  const files = filesOf(patterns)
  const outputs = { json, markdown, html, csv }
  assertOutputFiles(outputs)
  const claimed = { ...(atLeast === undefined ? {} : { atLeast }), ...(metric && { metric }) }
  const verdicts: Verdict[] = []
  const results: FunctionRaceResult[] = []
  await interruptible(async (signal) => {
    const benchmarks: Benchmark[] = []
    // A mistake in the last file must not cost the measurements of the others.
    for (const file of files) {
      benchmarks.push(...(await loadBenchmarks(pathToFileURL(file), { ...options, onProgress: line.show }, signal)))
    }
    for (const [index, benchmark] of benchmarks.entries()) {
      if (index > 0) print('')
      verdicts.push(...(await decide(benchmark, claimed, signal)))
      results.push(benchmark.race.result())
    }
  })
  writeOutputFiles(results, outputs)
  process.exitCode = exitCodeOf(verdicts)
}

/** Decides the claims about one group, prints its table, and returns the verdicts that count. */
async function decide(
  { race, functions, claims }: Benchmark,
  { atLeast, metric }: Pick<BenchFlags, 'atLeast' | 'metric'>,
  signal: AbortSignal,
): Promise<Verdict[]> {
  const others = functions.names.slice(1).map((over) => ({ over, atLeast: atLeast ?? 1, ...(metric && { metric }) }))
  const areClaimed = atLeast !== undefined || claims.length > 0
  const texts: string[] = []
  const verdicts: Verdict[] = []
  const advise = adviceOnce(false)
  for (const { over, ...claim } of atLeast === undefined && claims.length > 0 ? claims : others) {
    const decision = await race.decide(over, { ...claim, signal })
    const advice = areClaimed ? advise(decision) : ''
    texts.push(color(decision.verdict, wrap([decisionText(decision), advice].filter(Boolean).join('\n'), columns())))
    if (areClaimed) verdicts.push(decision.verdict)
  }
  // A single function has no claim.
  if (others.length === 0) await race.measure({ signal })
  print([functionTable(race.result(), terminal), ...texts].join('\n'))
  return verdicts
}

function columns(): number {
  return terminal.columns ?? Infinity
}

/** Files that exist, and those that match a pattern. */
function filesOf(patterns: readonly string[]): string[] {
  const files = patterns.flatMap((pattern) => {
    const found = existsSync(pattern)
      ? [pattern]
      : globSync(pattern, { exclude: (name) => /(?:^|[/\\])node_modules$/.test(name) }).toSorted()
    if (found.length > 0) return found
    throw new errorCodes.SPEED_BOUNDS_NO_BENCHMARKS(
      `No file matches "${pattern}": expected a benchmark file, such as src/parse.bench.ts.`,
    )
  })
  return [...new Set(files.map((file) => resolve(file)))]
}
