import { markdownTable } from 'markdown-table'
import { styleText } from 'node:util'
import { type CaseComparison, type Comparison, sideText } from '../compare/comparison.ts'
import { NO_INTERVAL } from './claim-sentences.ts'
import { confidenceText, counted, percentage, ratio } from './format.ts'
import { METRIC_FORMATS } from './metric-formats.ts'
import { markdownText } from './markdown-text.ts'
import type { Place } from './tables.ts'
import { cut, widthOf, wrap } from './terminal-width.ts'

const COLORS = { faster: 'green', slower: 'red', within: 'green', inconclusive: 'yellow' } as const
const ICONS = { faster: '🟢', slower: '🔴', within: '⚪', inconclusive: '🟡' } as const

/** The comparison for a terminal: three short lines per case. */
export function comparisonToTerminal(comparison: Comparison, { columns = Infinity }: Place = {}): string {
  const { title } = METRIC_FORMATS[comparison.metric]
  const cases = comparison.cases.map((one) => {
    const { base, head } = figuresOf(comparison, one)
    const verdict = verdictText(comparison, one)
    const name = cut(`${one.subject}, ${one.case}`, columns - widthOf(`: ${verdict}`))
    return [
      `${styleText('bold', name)}: ${styleText(COLORS[one.verdict], verdict)}`,
      wrap(`  ${intervalText(one)}`, columns),
      ...(one.base === null && one.head === null ? [] : [wrap(`  ${title}: ${base} -> ${head}`, columns)]),
    ].join('\n')
  })
  return [
    styleText('bold', wrap(headline(comparison), columns)),
    ...cases,
    styleText('dim', wrap(methodText(comparison), columns)),
  ].join('\n')
}

/** The comparison as Markdown, for a comment of a pull request. */
export function comparisonToMarkdown(comparison: Comparison): string {
  const { title } = METRIC_FORMATS[comparison.metric]
  const rows = comparison.cases.map((one) => {
    const { base, head } = figuresOf(comparison, one)
    const verdict = `${ICONS[one.verdict]} **${verdictText(comparison, one)}**`
    return [...[one.subject, one.case, base, head, intervalText(one)].map(markdownText), verdict]
  })
  const table = markdownTable([['subject', 'case', 'base', 'head', 'ratio (interval)', 'verdict'], ...rows], {
    align: ['l', 'l', 'r', 'r', 'r', 'l'],
  })
  return `### ${markdownText(headline(comparison))}\n\n${title}:\n\n${table}\n\n${markdownText(methodText(comparison))}\n`
}

function headline({ base, head }: Comparison): string {
  return `${sideText(head)} compared with ${sideText(base)}`
}

function figuresOf({ metric }: Comparison, { base, head }: CaseComparison): { base: string; head: string } {
  const text = (value: number | null): string => (value === null ? 'none' : METRIC_FORMATS[metric].format(value))
  return { base: text(base), head: text(head) }
}

function verdictText({ margin }: Comparison, { verdict }: CaseComparison): string {
  return verdict === 'within' ? `within ±${percentage(margin)}` : verdict
}

function intervalText({ ratio: middle, low, high, confidence }: CaseComparison): string {
  if (middle === null || low === null || high === null || confidence === null) return NO_INTERVAL
  return `${ratio(middle)} (${ratio(low)} to ${ratio(high)}, ${confidenceText(confidence)} interval)`
}

function methodText({ metric, margin, races }: Comparison): string {
  const results = Object.values(races)
  const rounds = results.reduce((sum, race) => sum + race.rounds.length, 0)
  const [first] = results
  const machine = first
    ? ` ${first.environment.cpu}, ${counted(first.environment.cores, 'core')}, Node ${first.environment.node}.`
    : ''
  return (
    `A ratio above 1 means that the head is better by ${METRIC_FORMATS[metric].title}. ` +
    `Differences within ±${percentage(margin)} count as none. ${rounds} rounds.${machine}`
  )
}
