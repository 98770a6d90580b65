import { styleText } from 'node:util'
import { toMarkdown, toTerminal, type RaceResult } from 'speed-bounds'
import type { Published } from './published.ts'
import type { Outcome } from './suite.ts'

/** The suite's tables for a terminal. */
export function suiteTerminal(name: string, outcomes: readonly Outcome[]): string {
  const parts = outcomes.map(({ title, result, published }) =>
    [
      styleText(['bold', 'underline'], `${name}: ${title}`),
      toTerminal(result),
      ...(published && result.summaries.length > 0 ? [comparison(result, published).text] : []),
    ].join('\n'),
  )
  return `\n${parts.join('\n\n')}\n`
}

/** The same as Markdown. */
export function suiteMarkdown(name: string, outcomes: readonly Outcome[]): string {
  const parts = outcomes.map(({ title, result, published }) =>
    [
      `## ${title}`,
      toMarkdown(result).trim(),
      ...(published && result.summaries.length > 0 ? [comparison(result, published).markdown] : []),
    ].join('\n\n'),
  )
  return `# ${name}\n\n${parts.join('\n\n')}\n`
}

const HEAD = [
  'subject',
  'published then',
  'ratio then',
  'measured now',
  'ratio now (interval)',
  'by CPU now (interval)',
]

/** Published then beside measured now, both as ratios over the text's own baseline. */
function comparison(
  result: RaceResult,
  { source, baseline, requestsPerSecond }: Published,
): { text: string; markdown: string } {
  const [base] = Object.entries(requestsPerSecond).filter(([name]) => name === baseline)
  const rows = Object.entries(requestsPerSecond).map(([name, then]) => {
    const now = result.summaries.find(({ subject }) => subject === name)?.mean.throughput ?? Number.NaN
    const own = name === baseline
    return [
      name,
      `${count(then)} req/s`,
      own ? '1' : `${(then / base![1]).toFixed(2)}x`,
      `${count(now)} req/s`,
      ...(['throughput', 'cpu'] as const).map((metric) => (own ? '1' : ratioOver(result, name, baseline, metric))),
    ]
  })
  const legend = rows.some((row) => row[4]!.endsWith('*')) ? ['* limited by the generator, not by the server'] : []
  const widths = HEAD.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)))
  const lineOf = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('   ')
  const tableRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return {
    text: [
      styleText('bold', `Published then, measured now (${source})`),
      styleText('dim', ` ${lineOf(HEAD)}`),
      ...rows.map((row) => ` ${lineOf(row)}`),
      ...legend,
    ].join('\n'),
    markdown: [
      `### Published then, measured now\n\n${source}\n`,
      tableRow(HEAD),
      tableRow(HEAD.map(() => '---')),
      ...rows.map(tableRow),
      ...legend.map((line) => `\n${line}`),
    ].join('\n'),
  }
}

/** The document holds each ratio once, for the first subject over the others: turns it round where needed. */
function ratioOver({ ratios }: RaceResult, name: string, baseline: string, metric: string): string {
  const found = ratios.find((ratio) => ratio.contender === baseline && ratio.over === name && ratio.metric === metric)
  if (!found) throw new Error(`${baseline} must be the first subject of its race`)
  const limited = found.generatorBound ? ' *' : ''
  return `${(1 / found.ratio).toFixed(2)}x (${(1 / found.high).toFixed(2)} to ${(1 / found.low).toFixed(2)})${limited}`
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}
