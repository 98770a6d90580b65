import { Argument, type Command, Option } from 'commander'
import { compareRefs } from '../compare/compare-refs.ts'
import { WORKING_TREE } from '../compare/resolve-ref.ts'
import { readConfig } from '../config/read-config.ts'
import { assertOption } from '../options/check.ts'
import { type Metric, METRICS } from '../options/types.ts'
import { comparisonToTerminal } from '../report/comparison-tables.ts'
import { type ConfigFlags, withConfigFlags } from './config-flags.ts'
import { exitCodeOf } from './exit-codes.ts'
import { interruptible } from './interruption.ts'
import { line, print, terminal } from './output.ts'
import { assertOutputFiles, writeOutputFiles } from './output-files.ts'
import { percentage } from './percentage.ts'
import { repeatable } from './repeatable.ts'

const DEFAULT_MARGIN = 0.05

const EXAMPLES = `
The working tree counts with its uncommitted changes:
  speed-bounds compare main
  speed-bounds compare v1.2.0 HEAD --fail-if-slower 5%

Exit code: 0 compared. With --fail-if-slower: 0 no case is slower by more,
1 a case is, 3 a case is inconclusive. 2 wrong usage, configuration or ref,
4 an install, a build or a race failed, 130 interrupted.`

interface CompareFlags extends ConfigFlags {
  failIfSlower?: number
  margin?: number
  metric: Metric
  subject: string[]
}

export function addCompareCommand(program: Command): void {
  withConfigFlags(program.command('compare'))
    .description('race the subjects of the configuration at two commits')
    .argument('<base>', 'branch, tag or commit to compare with')
    .addArgument(new Argument('[head]', 'another one').default(WORKING_TREE, 'the working tree'))
    .option('--fail-if-slower <percent>', 'fail if a case is slower by more', percentage)
    .option('--margin <percent>', 'difference that counts as none (default: 5%)', percentage)
    .addOption(new Option('--metric <name>', 'metric that decides').choices([...METRICS]).default('cpu'))
    .addOption(repeatable('--subject <name>', 'subject to compare', 'all'))
    .addHelpText('after', EXAMPLES)
    .action(runCompare)
}

async function runCompare(base: string, head: string, flags: CompareFlags): Promise<void> {
  const { config: path, profile = false, budget, metric, subject, failIfSlower } = flags
  const margin = failIfSlower ?? flags.margin ?? DEFAULT_MARGIN
  assertOption(
    flags.margin === undefined || flags.margin === margin,
    '--margin',
    'the value of --fail-if-slower',
    flags.margin,
  )
  const config = await readConfig(path)
  assertOutputFiles(flags)
  const failures: unknown[] = []
  const comparison = await interruptible((signal) =>
    compareRefs(config, {
      ...{ base, head, subjects: subject, margin, metric, budget, profile, signal },
      onProfileFailed: (error) => failures.push(error),
      onStep: (text) => {
        line.clear()
        process.stderr.write(`${text}\n`)
      },
      onProgress: line.show,
    }),
  )
  print(comparisonToTerminal(comparison, terminal))
  writeOutputFiles(comparison, flags)
  process.exitCode = failIfSlower === undefined ? 0 : exitCodeOf(comparison.cases.map(({ gate }) => gate))
  if (failures.length > 0) throw failures[0]
}
