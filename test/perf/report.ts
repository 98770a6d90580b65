import { styleText } from 'node:util'
import { type RaceResult, type Summary, toMarkdown, toTerminal } from 'speed-bounds'
import type { Published, PublishedFigures } from './published.ts'

/** A race and its result, for the report of its suite. */
export interface Outcome {
  title: string
  result: RaceResult
  published: Published | undefined
}

/** The suite's tables for a terminal. */
export function suiteTerminal(name: string, outcomes: readonly Outcome[], columns: number): string {
  const parts = outcomes.map((outcome) =>
    [
      styleText(['bold', 'underline'], `${name}: ${outcome.title}`),
      toTerminal(outcome.result, { columns }),
      ...comparisonsOf(outcome).map((table) => textOf(table, columns)),
    ].join('\n'),
  )
  return `\n${parts.join('\n\n')}\n`
}

/** The same as Markdown. */
export function suiteMarkdown(name: string, outcomes: readonly Outcome[]): string {
  const parts = outcomes.map((outcome) =>
    [`## ${outcome.title}`, toMarkdown(outcome.result).trim(), ...comparisonsOf(outcome).map(markdownOf)].join('\n\n'),
  )
  return `# ${name}\n\n${parts.join('\n\n')}\n`
}

/** A table of published figures beside the measured ones. */
export interface Comparison {
  title: string
  head: readonly string[]
  rows: readonly (readonly string[])[]
  legend: readonly string[]
}

/** The published figures of a race beside the measured ones. */
export function comparisonsOf({ result, published }: Outcome): Comparison[] {
  if (!published || result.summaries.length === 0) return []
  const details = DETAILS.filter(({ before }) => published.figures.some((figure) => before(figure) !== undefined))
  return [rates(result, published), ...(details.length > 0 ? [detailsOf(result, published, details)] : [])]
}

/** Rates, both as ratios over the text's own baseline. */
function rates(result: RaceResult, { source, baseline, figures }: Published): Comparison {
  const base = figures.find(({ subject }) => subject === baseline)?.requestsPerSecond
  const rows = allSystems(result, figures).map(({ name, subject, before, now }) => {
    const own = subject === baseline
    const rate = before?.requestsPerSecond
    const ratio = before?.ratio ?? (rate !== undefined && base !== undefined ? rate / base : undefined)
    return [
      name,
      rate === undefined ? '' : `${count(rate)} req/s`,
      own ? '1' : ratio === undefined ? '' : `${ratio.toFixed(2)}x`,
      `${count(now.mean.throughput)} req/s`,
      ...(['throughput', 'cpu'] as const).map((metric) => (own ? '1' : ratioOver(result, now, baseline, metric))),
    ]
  })
  return {
    title: `Published then, measured now (${source})`,
    head: ['system', 'published then', 'ratio then', 'measured now', 'ratio now (interval)', 'by CPU now (interval)'],
    rows,
    legend: rows.some((row) => row[4]!.endsWith('*')) ? ['* limited by the generator, not by the server'] : [],
  }
}

interface Detail {
  readonly name: string
  readonly unit: string
  readonly before: (figures: PublishedFigures) => number | undefined
  readonly now: (summary: Summary, result: RaceResult) => number | undefined
}

const DETAILS: readonly Detail[] = [
  { name: 'p50', unit: ' ms', before: ({ p50 }) => p50, now: ({ mean }) => mean.p50 },
  { name: 'p99', unit: ' ms', before: ({ p99 }) => p99, now: ({ mean }) => mean.p99 },
  {
    name: 'average',
    unit: ' ms',
    before: ({ average }) => average,
    // Each connection always has the same number of requests without a response (Little's law).
    now: ({ mean }, { load }) => (1000 * load.connections * load.pipelining) / mean.throughput,
  },
  { name: 'memory', unit: ' MB', before: ({ memory }) => memory, now: ({ mean }) => mean.peakRss / 1e6 },
  { name: 'transferred', unit: ' MB', before: ({ transferred }) => transferred, now: () => undefined },
  {
    name: 'timeouts',
    unit: '',
    before: ({ timeouts }) => timeouts,
    now: ({ subject, case: kase }, { rounds }) =>
      rounds
        .filter((round) => round.subject === subject && round.case === kase)
        .reduce((sum, { failures }) => sum + failures, 0),
  },
]

/** Latency, memory, and requests without a response. */
function detailsOf(result: RaceResult, { source, figures }: Published, details: readonly Detail[]): Comparison {
  const rows = allSystems(result, figures).map(({ name, before, now }) => [
    name,
    ...details.flatMap((detail) => [
      withUnit(before && detail.before(before), detail.unit),
      withUnit(detail.now(now, result), detail.unit),
    ]),
  ])
  return {
    title: `Details then and now (${source})`,
    head: ['system', ...details.flatMap(({ name }) => [`${name} then`, 'now'])],
    rows,
    legend: [],
  }
}

/** The published figures alone, for a load that was not measured. */
export function publishedAlone({ source, baseline, figures }: Published, measuredBy: string): Comparison {
  const details = DETAILS.filter(({ before }) => figures.some((figure) => before(figure) !== undefined))
  const base = figures.find(({ subject }) => subject === baseline)?.requestsPerSecond
  const rows = figures.map((figure) => {
    const { subject, case: kase, requestsPerSecond: rate } = figure
    const ratio = figure.ratio ?? (rate !== undefined && base !== undefined ? rate / base : undefined)
    return [
      kase === undefined ? subject : `${subject} (${kase})`,
      rate === undefined ? '' : `${count(rate)} req/s`,
      ratio === undefined ? '' : `${ratio.toFixed(2)}x`,
      ...details.map(({ before, unit }) => withUnit(before(figure), unit)),
    ]
  })
  return {
    title: `Published then, not measured in this run (${source})`,
    head: ['system', 'published then', 'ratio then', ...details.map(({ name }) => `${name} then`)],
    rows,
    legend: [`Measure it by: ${measuredBy}`],
  }
}

function withUnit(value: number | undefined, unit: string): string {
  if (value === undefined) return ''
  return `${value < 100 && unit !== '' ? Number(value.toFixed(2)) : count(value)}${unit}`
}

/** Systems with published figures, then the new ones. */
function allSystems(
  { summaries }: RaceResult,
  figures: readonly PublishedFigures[],
): { name: string; subject: string; before: PublishedFigures | undefined; now: Summary }[] {
  const first = summaries[0]!.case
  const known = figures.map((before) => ({ before, subject: before.subject, kase: before.case ?? first }))
  const others = summaries
    .filter((now) => !known.some(({ subject, kase }) => subject === now.subject && kase === now.case))
    .map((now) => ({ before: undefined, subject: now.subject, kase: now.case }))
  return [...known, ...others].flatMap(({ before, subject, kase }) => {
    const now = summaries.find((summary) => summary.subject === subject && summary.case === kase)
    return now ? [{ name: kase === first ? subject : `${subject} (${kase})`, subject, before, now }] : []
  })
}

/** The document has each ratio once, for the first subject over the others. Inverts it where needed. */
function ratioOver({ ratios }: RaceResult, { subject, case: kase }: Summary, baseline: string, metric: string): string {
  const found = ratios.find(
    (ratio) => ratio.contender === baseline && ratio.over === subject && ratio.case === kase && ratio.metric === metric,
  )
  if (!found) throw new Error(`${baseline} must be the first subject of its race`)
  const limited = found.generatorBound ? ' *' : ''
  return `${(1 / found.ratio).toFixed(2)}x (${(1 / found.high).toFixed(2)} to ${(1 / found.low).toFixed(2)})${limited}`
}

/** A table as text. In a narrower terminal, the cells of a row are below its first one. */
export function textOf({ title, head, rows, legend }: Comparison, columns = Infinity): string {
  const widths = head.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]!.length)))
  const lineOf = (cells: readonly string[]): string =>
    ` ${cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('   ')}`
  const fits = lineOf(head).length <= columns
  const body = fits
    ? [styleText('dim', lineOf(head)), ...rows.map(lineOf)]
    : rows.flatMap(([first, ...cells]) => [` ${first}`, ...labeled(head.slice(1), cells)])
  return [styleText('bold', title), ...body, ...legend].join('\n')
}

/** A line for each cell that is not empty, after its label. */
function labeled(labels: readonly string[], cells: readonly string[]): string[] {
  const width = Math.max(...labels.map((label) => label.length))
  return cells.flatMap((cell, index) =>
    cell === '' ? [] : [`   ${styleText('dim', labels[index]!.padEnd(width))}   ${cell}`],
  )
}

export function markdownOf({ title, head, rows, legend }: Comparison): string {
  const tableRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    `### ${title}\n`,
    tableRow(head),
    tableRow(head.map(() => '---')),
    ...rows.map(tableRow),
    ...legend.map((line) => `\n${line}`),
  ].join('\n')
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}
