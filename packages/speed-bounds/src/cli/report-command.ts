import { type Command, Option } from 'commander'
import type { Comparison } from '../compare/comparison.ts'
import { errorCodes, SpeedBoundsError } from '../errors.ts'
import { type Metric, METRICS } from '../options/types.ts'
import { comparisonToMarkdown, comparisonToTerminal } from '../report/comparison-tables.ts'
import { toBencher, toGithubActionBenchmark } from '../report/export-benchmarks.ts'
import { toCsv } from '../report/export-csv.ts'
import { toHtml } from '../report/html/to-html.ts'
import { readResult } from '../report/read-result.ts'
import type { LoadReport } from '../load-test/load-report.ts'
import { loadToMarkdown, loadToTerminal } from '../report/load-tables.ts'
import type { RaceResult } from '../report/result.ts'
import { toMarkdown, toTerminal } from '../report/tables.ts'
import { print, terminal } from './output.ts'
import { toJson, writeResult } from './write-results.ts'

type View = (document: RaceResult | Comparison, metric: Metric | undefined) => string

const FORMATS = {
  text: (document) =>
    `${'kind' in document ? comparisonToTerminal(document, terminal) : toTerminal(document, terminal)}\n`,
  html: toHtml,
  markdown: toMarkdownOf,
  csv: toCsv,
  'github-action-benchmark': (document, metric) => toJson(toGithubActionBenchmark(document, metric)),
  bencher: (document, metric) => toJson(toBencher(document, metric)),
} as const satisfies Record<string, View>

/** Formats of a load. */
const LOAD_FORMATS: Readonly<Record<string, (document: LoadReport) => string>> = {
  text: (document) => `${loadToTerminal(document, terminal)}\n`,
  markdown: loadToMarkdown,
}

const FORMAT_HELP = `
Formats:
  text                     the tables for a terminal
  html                     one file with plots, for people
  markdown                 tables for a README
  csv                      all rounds
  github-action-benchmark  for its tool customSmallerIsBetter, and
                           with --metric throughput for customBiggerIsBetter
  bencher                  Bencher Metric Format
A load has the formats text and markdown.`

interface ReportFlags {
  format: keyof typeof FORMATS
  metric?: Metric
  output?: string
  markdown?: string
}

export function addReportCommand(program: Command): void {
  program
    .command('report')
    .description('show a result that --json has written, or convert it')
    .argument('<file>', 'the result')
    .addOption(new Option('--format <name>', 'format, see below').choices(Object.keys(FORMATS)).default('text'))
    .addOption(new Option('--metric <name>', 'metric to export (default: all that fit)').choices([...METRICS]))
    .option('-o, --output <file>', 'write to a file (default: stdout)')
    .option('--markdown <file>', 'write the tables as Markdown too')
    .addHelpText('after', FORMAT_HELP)
    .action(report)
}

function report(file: string, { format, metric, output, markdown }: ReportFlags): void {
  const document = readResult(file)
  const text = viewOf(file, () => (isLoad(document) ? formatLoad(document, format) : FORMATS[format](document, metric)))
  if (output === undefined) print(text.trimEnd())
  else writeResult(output, text)
  if (markdown !== undefined)
    writeResult(
      markdown,
      viewOf(file, () => (isLoad(document) ? loadToMarkdown(document) : toMarkdownOf(document))),
    )
}

function isLoad(document: RaceResult | Comparison | LoadReport): document is LoadReport {
  return 'kind' in document && document.kind === 'load'
}

function formatLoad(document: LoadReport, format: string): string {
  const view = LOAD_FORMATS[format]
  if (view) return view(document)
  const known = Object.keys(LOAD_FORMATS).join(' or ')
  throw new errorCodes.SPEED_BOUNDS_INVALID_OPTION(`Invalid format of a load: expected ${known}, got ${format}.`)
}

function toMarkdownOf(document: RaceResult | Comparison): string {
  return 'kind' in document ? comparisonToMarkdown(document) : toMarkdown(document)
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
