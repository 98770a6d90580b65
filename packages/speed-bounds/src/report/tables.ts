import Table from 'cli-table3'
import { markdownTable } from 'markdown-table'
import { styleText } from 'node:util'
import type { Verdict } from '../statistics/verdict.ts'
import {
  bottleneck,
  megabytes,
  microseconds,
  milliseconds,
  percentage,
  perSecond,
  ratio,
  ratioWithInterval,
} from './format.ts'
import { decisionText } from './claim-sentences.ts'
import type { RaceResult, Summary } from './result.ts'

const SUMMARY_HEAD = ['subject', 'CPU/request', 'requests/s', 'p50', 'p99', 'memory', 'peak', 'limited by']

/** The result as a table for a terminal, one per case, with the verdicts below. */
export function toTerminal(result: RaceResult): string {
  const parts = result.cases.map(({ name }) => {
    const rows = rowsOf(result, name).map(([subject, ...cells]) => [styleText('bold', subject!), ...cells])
    return [`${styleText('bold', name)}\n${drawn(SUMMARY_HEAD, rows)}`, ...failuresOf(result, name)].join('\n')
  })
  const verdicts = result.claims.map((claim) => color(claim.verdict, verdictText(claim, result)))
  return [...parts, ...verdicts, styleText('dim', methodText(result))].join('\n')
}

/** The same as Markdown. */
export function toMarkdown(result: RaceResult): string {
  const align = ['l', ...SUMMARY_HEAD.slice(1, -1).map(() => 'r'), 'l']
  const parts = result.cases.map(({ name }) =>
    [
      `### ${name}`,
      markdownTable([SUMMARY_HEAD, ...rowsOf(result, name)], { align }),
      ...failuresOf(result, name),
    ].join('\n\n'),
  )
  const verdicts = result.claims.map((claim) => [
    `${claim.contender} at least ${ratio(claim.atLeast)} ${claim.over}`,
    claim.case,
    `**${claim.verdict}**`,
    claim.estimates.map((estimate) => `${estimate.metric} ${ratioWithInterval(estimate)}`).join('; '),
  ])
  if (verdicts.length > 0)
    parts.push(`### Verdicts\n\n${markdownTable([['claim', 'case', 'verdict', 'measured (interval)'], ...verdicts])}`)
  return [...parts, methodText(result)].join('\n\n') + '\n'
}

/** A table with aligned columns and no borders. */
function drawn(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const none = Object.fromEntries(
    ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
      .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'])
      .map((name) => [name, '']),
  )
  const table = new Table({
    head: head.map((name) => styleText('dim', name)),
    chars: { ...none, middle: ' ' },
    colAligns: head.map((_, column) => (column === 0 || column === head.length - 1 ? 'left' : 'right')),
    style: { head: [], border: [], 'padding-left': 1, 'padding-right': 1 },
  })
  table.push(...rows.map((row) => [...row]))
  const lines = table.toString().split('\n')
  return lines.map((line) => line.trimEnd()).join('\n')
}

export function color(verdict: Verdict, text: string): string {
  return styleText(({ holds: 'green', broken: 'red', inconclusive: 'yellow' } as const)[verdict], text)
}

function rowsOf({ summaries }: RaceResult, name: string): string[][] {
  return summaries
    .filter((summary) => summary.case === name)
    .toSorted((a, b) => a.mean.cpu - b.mean.cpu)
    .map((summary) => [summary.subject, ...cellsOf(summary), bottleneck(summary)])
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

function verdictText(
  { verdict, estimates, missing, ...claim }: RaceResult['claims'][number],
  { method }: RaceResult,
): string {
  const metrics = estimates.map(({ metric }) => metric)
  const decided = missing === undefined ? { verdict, estimates } : { verdict, estimates, missing }
  return decisionText({ claim: { ...claim, metrics, looks: method.looks, budget: 0 }, ...decided })
}

function methodText({ environment, load, method, rounds, discarded }: RaceResult): string {
  const { cpu, cores, system, node } = environment
  const length = load.amount === null ? `${load.duration} ms` : `${load.amount} requests`
  const generator = load.busyPoll === 0 ? load.generator : `${load.generator} with a busy poll of ${load.busyPoll} µs`
  return (
    `${generator}, ${load.connections} connections, pipelining ${load.pipelining}, ${rounds.length} rounds of ${length}` +
    ` (${discarded['foreign-cpu']} discarded for foreign CPU), ${method.replicas} processes of each subject in each of ${method.stages} stages, seed ${method.seed}.` +
    `\n${cpu}, ${cores} cores, ${system}, Node ${node}${environment.commit ? `, commit ${environment.commit}` : ''}.`
  )
}
