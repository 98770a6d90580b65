import { markdownTable } from 'markdown-table'
import { styleText } from 'node:util'
import type { Verdict } from '../statistics/verdict.ts'
import {
  bottleneck,
  counted,
  machineText,
  megabytes,
  microseconds,
  milliseconds,
  percentage,
  perSecond,
  bound,
} from './format.ts'
import { decisionText, measuredText } from './claim-sentences.ts'
import { markdownText } from './markdown-text.ts'
import { disturbedText, lengthOfRound, processesText } from './measured-rounds.ts'
import type { RaceResult, Summary } from './result.ts'
import { cut, wrap } from './terminal-width.ts'
import { type Column, drawMarkdown, drawTable } from './text-table.ts'

const SUMMARY: readonly Column[] = [
  { title: 'subject', align: 'left', rank: 0 },
  { title: 'CPU/request', align: 'right', rank: 0 },
  { title: 'requests/s', align: 'right', rank: 1 },
  { title: 'p50', align: 'right', rank: 4 },
  { title: 'p99', align: 'right', rank: 2 },
  { title: 'memory', align: 'right', rank: 3 },
  { title: 'peak', align: 'right', rank: 6 },
  { title: 'limited by', align: 'left', rank: 5 },
]

/** Where a text is shown. */
export interface Place {
  /** Columns of the terminal. No line is longer. @default no limit */
  readonly columns?: number
}

/** The result as a table for a terminal, one per case, with the verdicts below. */
export function toTerminal(result: RaceResult, { columns = Infinity }: Place = {}): string {
  const parts = result.cases.map(({ name }) =>
    [
      styleText('bold', cut(name, columns)),
      ...drawTable(SUMMARY, rowsOf(result, name, columns), columns),
      ...failuresOf(result, name).map((text) => wrap(text, columns)),
    ].join('\n'),
  )
  const verdicts = result.claims.map((claim) => color(claim.verdict, wrap(verdictText(claim), columns)))
  return [...parts, ...verdicts, styleText('dim', wrap(methodText(result), columns))].join('\n')
}

/** The same as Markdown. */
export function toMarkdown(result: RaceResult): string {
  const parts = result.cases.map(({ name }) =>
    [
      `### ${markdownText(name)}`,
      ...drawMarkdown(SUMMARY, rowsOf(result, name)),
      ...failuresOf(result, name).map(markdownText),
    ].join('\n\n'),
  )
  const verdicts = result.claims.map((claim) => [
    markdownText(`${claim.contender} at least ${bound(claim.atLeast)} ${claim.over}`),
    markdownText(claim.case),
    `**${claim.verdict}**`,
    measuredText(claim.estimates),
  ])
  if (verdicts.length > 0)
    parts.push(`### Verdicts\n\n${markdownTable([['claim', 'case', 'verdict', 'measured (interval)'], ...verdicts])}`)
  return [...parts, markdownText(methodText(result))].join('\n\n') + '\n'
}

export function color(verdict: Verdict, text: string): string {
  return styleText(({ holds: 'green', broken: 'red', inconclusive: 'yellow' } as const)[verdict], text)
}

function rowsOf({ summaries }: RaceResult, name: string, columns = Infinity): string[][] {
  // A long name leaves room for the CPU per request.
  const nameWidth = Math.max(8, columns - 20)
  return summaries
    .filter((summary) => summary.case === name)
    .toSorted((a, b) => a.mean.cpu - b.mean.cpu)
    .map((summary) => [cut(summary.subject, nameWidth), ...cellsOf(summary), bottleneck(summary)])
}

function cellsOf({ mean }: Summary): string[] {
  return [
    microseconds(mean.cpu),
    perSecond(mean.throughput),
    milliseconds(mean.p50),
    milliseconds(mean.p99),
    megabytes(mean.rss),
    megabytes(mean.peakRss),
  ]
}

/** Subjects with failed requests, within `maxErrorRate`. */
function failuresOf({ rounds }: RaceResult, name: string): string[] {
  const own = Map.groupBy(
    rounds.filter((round) => round.case === name),
    ({ subject }) => subject,
  )
  return [...own].flatMap(([subject, measured]) => {
    const failed = measured.reduce((sum, { failures }) => sum + failures, 0)
    const sent = measured.reduce((sum, { responses }) => sum + responses, failed)
    return failed > 0
      ? `${subject} failed ${failed} of ${sent} requests of ${name} (${percentage(failed / sent)}).`
      : []
  })
}

function verdictText({ verdict, estimates, missing, ...claim }: RaceResult['claims'][number]): string {
  const metrics = estimates.map(({ metric }) => metric)
  const decided = missing === undefined ? { verdict, estimates } : { verdict, estimates, missing }
  return decisionText({ claim: { ...claim, metrics, budget: 0 }, ...decided })
}

function methodText(result: RaceResult): string {
  const { environment, load, method, rounds } = result
  const generator = load.busyPoll === 0 ? load.generator : `${load.generator} with a busy poll of ${load.busyPoll} µs`
  const parts = [
    `${generator}, ${counted(load.connections, 'connection')}, pipelining ${load.pipelining}, seed ${method.seed}.`,
    `${counted(rounds.length, 'round')} of ${lengthOfRound(result)}${rounds.length === 0 ? '' : `, ${processesText(result)}`}.`,
    disturbedText(result),
  ]
  return `${parts.filter(Boolean).join(' ')}\n${machineText(environment)}`
}
