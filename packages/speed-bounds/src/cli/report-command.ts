import type { Command } from 'commander'
import { comparisonToMarkdown, comparisonToTerminal } from '../report/comparison-tables.ts'
import { readResult } from '../report/read-result.ts'
import { toMarkdown, toTerminal } from '../report/tables.ts'
import { print } from './output.ts'
import { writeResult } from './write-results.ts'

export function addReportCommand(program: Command): void {
  program
    .command('report')
    .description('print the tables of a result that --json has written')
    .argument('<file>', 'the result')
    .option('--markdown <file>', 'write the tables as Markdown')
    .action(report)
}

function report(file: string, { markdown }: { markdown?: string }): void {
  const result = readResult(file)
  const isComparison = 'kind' in result
  print(isComparison ? comparisonToTerminal(result) : toTerminal(result))
  if (markdown) writeResult(markdown, isComparison ? comparisonToMarkdown(result) : toMarkdown(result))
}
