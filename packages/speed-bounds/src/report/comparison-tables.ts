import { markdownTable } from 'markdown-table'
import { styleText } from 'node:util'
import type { CaseComparison, Comparison } from '../compare/comparison.ts'
import type { Metric } from '../options/types.ts'
import { megabytes, microseconds, milliseconds, percentage, perSecond, ratio } from './format.ts'

const FORMATS: Record<Metric, { title: string; format: (value: number) => string }> = {
  cpu: { title: 'CPU per request', format: microseconds },
  throughput: { title: 'requests per second', format: perSecond },
  p99: { title: 'p99 latency', format: milliseconds },
  rss: { title: 'memory', format: megabytes },
  peakRss: { title: 'peak memory', format: megabytes },
}

const COLORS = { faster: 'green', slower: 'red', within: 'green', inconclusive: 'yellow' } as const
const ICONS = { faster: '🟢', slower: '🔴', within: '⚪', inconclusive: '🟡' } as const

/** The comparison for a terminal: three short lines per case. */
export function comparisonToTerminal(comparison: Comparison): string {
  const { title } = FORMATS[comparison.metric]
  const cases = comparison.cases.map((one) => {
    const { base, head } = figuresOf(comparison, one)
    return [
      `${styleText('bold', `${one.subject}, ${one.case}`)}: ${styleText(COLORS[one.verdict], verdictText(comparison, one))}`,
      `  ${intervalText(one)}`,
      `  ${title}: ${base} -> ${head}`,
    ].join('\n')
  })
  return [styleText('bold', headline(comparison)), ...cases, styleText('dim', methodText(comparison))].join('\n')
}

/** The comparison as Markdown, for a comment of a pull request. */
export function comparisonToMarkdown(comparison: Comparison): string {
  const { title } = FORMATS[comparison.metric]
  const rows = comparison.cases.map((one) => {
    const { base, head } = figuresOf(comparison, one)
    const verdict = `${ICONS[one.verdict]} **${verdictText(comparison, one)}**`
    return [...[one.subject, one.case, base, head, intervalText(one)].map(cell), verdict]
  })
  const table = markdownTable([['subject', 'case', 'base', 'head', 'ratio (interval)', 'verdict'], ...rows], {
    align: ['l', 'l', 'r', 'r', 'r', 'l'],
  })
  return `### ${cell(headline(comparison))}\n\n${title}:\n\n${table}\n\n${cell(methodText(comparison))}\n`
}

/** Names of refs and cases are text of others: no HTML, no links, no mentions, no new cells. */
function cell(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/[<>&|\\`*_[\]@#~]/g, (sign) => {
    if (sign === '<') return '&lt;'
    if (sign === '>') return '&gt;'
    if (sign === '&') return '&amp;'
    // A mention needs its sign right before the name.
    return sign === '@' ? '@\u200B' : `\\${sign}`
  })
}

function headline({ base, head }: Comparison): string {
  return `${head.ref} (${head.commit.slice(0, 12)}) compared with ${base.ref} (${base.commit.slice(0, 12)})`
}

function figuresOf({ metric }: Comparison, { base, head }: CaseComparison): { base: string; head: string } {
  const text = (value: number | null): string => (value === null ? 'none' : FORMATS[metric].format(value))
  return { base: text(base), head: text(head) }
}

function verdictText({ margin }: Comparison, { verdict }: CaseComparison): string {
  return verdict === 'within' ? `within ±${percentage(margin)}` : verdict
}

function intervalText({ ratio: middle, low, high, confidence }: CaseComparison): string {
  if (middle === null || low === null || high === null || confidence === null) return 'not enough data for an interval'
  return `${ratio(middle)} (${ratio(low)} to ${ratio(high)}, ${(confidence * 100).toFixed(1)} % interval)`
}

function methodText({ metric, margin, races }: Comparison): string {
  const results = Object.values(races)
  const rounds = results.reduce((sum, race) => sum + race.rounds.length, 0)
  const [first] = results
  const machine = first
    ? ` ${first.environment.cpu}, ${first.environment.cores} cores, Node ${first.environment.node}.`
    : ''
  return (
    `A ratio above 1 means that the head is better by ${FORMATS[metric].title}. ` +
    `Differences within ±${percentage(margin)} count as none. ${rounds} rounds.${machine}`
  )
}
