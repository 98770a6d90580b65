import { type Command, Option } from 'commander'
import type { Comparison } from '../compare/comparison.ts'
import { errorCodes, SpeedBoundsError } from '../errors.ts'
import { type Metric, METRICS } from '../options/types.ts'
import { toBencher, toGithubActionBenchmark } from '../report/export-benchmarks.ts'
import { readResult } from '../report/read-result.ts'
import { byKind, type ResultDocument } from '../report/result-document.ts'
import type { RaceResult } from '../report/result.ts'
import { FILE_VIEWS, terminalOf } from '../report/views.ts'
import { print, terminal } from './output.ts'
import { toJson, writeResult } from './write-results.ts'

/** Formats of every result. */
const FORMATS = {
  text: (document) => `${terminalOf(document, terminal)}\n`,
  ...FILE_VIEWS,
} as const satisfies Record<string, (document: ResultDocument) => string>

/** Formats of services that draw figures over time. Only races of servers have these figures. */
const SERVICES = {
  'github-action-benchmark': (document, metric) => toJson(toGithubActionBenchmark(document, metric)),
  bencher: (document, metric) => toJson(toBencher(document, metric)),
} as const satisfies Record<string, (document: RaceResult | Comparison, metric: Metric | undefined) => string>

const FORMAT_HELP = `
Formats:
  text                     the tables for a terminal
  html                     one file with plots, for people
  markdown                 tables for a README
  csv                      all rounds, or the rates of a load
  github-action-benchmark  for its tool customSmallerIsBetter, and
                           with --metric throughput for customBiggerIsBetter
  bencher                  Bencher Metric Format
A load and functions have no formats of services.`

interface ReportFlags {
  format: keyof typeof FORMATS | keyof typeof SERVICES
  metric?: Metric
  output?: string
  markdown?: string
}

export function addReportCommand(program: Command): void {
  program
    .command('report')
    .description('show a result that --json has written, or convert it')
    .argument('<file>', 'the result')
    .addOption(
      new Option('--format <name>', 'format, see below')
        .choices([...Object.keys(FORMATS), ...Object.keys(SERVICES)])
        .default('text'),
    )
    .addOption(new Option('--metric <name>', 'metric to export (default: all that fit)').choices([...METRICS]))
    .option('-o, --output <file>', 'write to a file (default: stdout)')
    .option('--markdown <file>', 'write the tables as Markdown too')
    .addHelpText('after', FORMAT_HELP)
    .action(report)
}

function report(file: string, { format, metric, output, markdown }: ReportFlags): void {
  const document = readResult(file)
  const text = viewOf(file, () => formatted(document, format, metric))
  if (output === undefined) print(text.trimEnd())
  else writeResult(output, text)
  if (markdown !== undefined)
    writeResult(
      markdown,
      viewOf(file, () => FORMATS.markdown(document)),
    )
}

function formatted(document: ResultDocument, format: ReportFlags['format'], metric: Metric | undefined): string {
  if (format in FORMATS) return FORMATS[format as keyof typeof FORMATS](document)
  const service = (result: RaceResult | Comparison): string => SERVICES[format as keyof typeof SERVICES](result, metric)
  return byKind(document, {
    race: service,
    comparison: service,
    load: () => rejectService('a load', format),
    functions: () => rejectService('functions', format),
  })
}

function rejectService(kind: string, format: string): never {
  const known = `${Object.keys(FORMATS).slice(0, -1).join(', ')} or ${Object.keys(FORMATS).at(-1)}`
  throw new errorCodes.SPEED_BOUNDS_INVALID_OPTION(`Invalid format of ${kind}: expected ${known}, got ${format}.`)
}

/** Only the outline of a file is checked when it is read. A view fails where a part is missing. */
function viewOf(file: string, view: () => string): string {
  try {
    return view()
  } catch (error) {
    if (error instanceof SpeedBoundsError) throw error
    throw new errorCodes.SPEED_BOUNDS_INVALID_RESULT(
      `${file} is damaged: ${(error as Error).message}. Expected a file that --json has written.`,
      { cause: error },
    )
  }
}
