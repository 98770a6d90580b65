import { markdownTable } from 'markdown-table'
import { styleText } from 'node:util'
import type { FunctionRaceResult } from '../functions/function-result.ts'
import { decisionText, measuredText } from './claim-sentences.ts'
import { bound, machineText, perSecond, timeOfCall } from './format.ts'
import { markdownText } from './markdown-text.ts'
import { functionResultsOf } from './result-document.ts'
import { color, type Place } from './tables.ts'
import { cut, wrap } from './terminal-width.ts'
import { type Column, drawMarkdown, drawTable } from './text-table.ts'

const COLUMNS: readonly Column[] = [
  { title: 'function', align: 'left', rank: 0 },
  { title: 'CPU/call', align: 'right', rank: 0 },
  { title: 'calls/s', align: 'right', rank: 1 },
  { title: 'processes', align: 'right', rank: 2 },
]

/** The functions of a race as a table for a terminal, the fastest first. */
export function functionTable(result: FunctionRaceResult, { columns = Infinity }: Place): string {
  // A long name leaves room for the CPU per call.
  const nameWidth = Math.max(8, columns - 20)
  const rows = rowsOf(result).map(([name, ...cells]) => [cut(name!, nameWidth), ...cells])
  return [styleText('bold', cut(result.name, columns)), ...drawTable(COLUMNS, rows, columns)].join('\n')
}

/**
 * Races of functions as tables for a terminal, with their verdicts.
 *
 * @example
 * console.log(functionsToTerminal(await race(new URL('./parse.bench.ts', import.meta.url)).measure()))
 */
export function functionsToTerminal(
  results: FunctionRaceResult | readonly FunctionRaceResult[],
  { columns = Infinity }: Place = {},
): string {
  return functionResultsOf(results)
    .map((result) => {
      const verdicts = result.claims.map((claim) => color(claim.verdict, wrap(verdictText(result, claim), columns)))
      return [functionTable(result, { columns }), ...verdicts].join('\n')
    })
    .join('\n\n')
}

/**
 * The same as Markdown.
 *
 * @example
 * writeFileSync('bench.md', functionsToMarkdown(await race(new URL('./parse.bench.ts', import.meta.url)).measure()))
 */
export function functionsToMarkdown(results: FunctionRaceResult | readonly FunctionRaceResult[]): string {
  const parts = functionResultsOf(results).flatMap((result) => [
    `### ${markdownText(result.name)}`,
    ...drawMarkdown(COLUMNS, rowsOf(result)),
    ...verdictTable(result),
  ])
  const [first] = functionResultsOf(results)
  return `${[...parts, ...(first ? [markdownText(methodText(first))] : [])].join('\n\n')}\n`
}

function rowsOf({ functions }: FunctionRaceResult): string[][] {
  return functions
    .toSorted((a, b) => a.cpu - b.cpu)
    .map(({ name, cpu, throughput, processes }) => [name, timeOfCall(cpu), perSecond(throughput), String(processes)])
}

function verdictTable({ claims }: FunctionRaceResult): string[] {
  if (claims.length === 0) return []
  const rows = claims.map(({ contender, over, atLeast, verdict, estimates }) => [
    markdownText(`${contender} at least ${bound(atLeast)} ${over}`),
    `**${verdict}**`,
    measuredText(estimates),
  ])
  return [markdownTable([['claim', 'verdict', 'measured (interval)'], ...rows])]
}

function verdictText({ name }: FunctionRaceResult, claim: FunctionRaceResult['claims'][number]): string {
  const { verdict, estimates, missing, ...claimed } = claim
  const metrics = estimates.map(({ metric }) => metric)
  return decisionText({
    claim: { ...claimed, case: name, metrics, budget: 0, unit: 'call' },
    ...{ verdict, estimates },
    ...(missing === undefined ? {} : { missing }),
  })
}

function methodText({ environment, method }: FunctionRaceResult): string {
  const process = `${method.duration} ms of calls in each process, after a warm-up of ${method.warmUp} ms.`
  return `${process} ${machineText(environment)}`
}
