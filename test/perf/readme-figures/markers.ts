// Figures in READMEs, between markers: `<!--= figure format -->4.02x<!--/-->` in a line, the runs of a table in
// `<!--= name source -->`, and a table between `<!--= table name -->` and `<!--/ table -->`.

import { markdownTable } from 'markdown-table'
import { type FigureName, type Table, tables } from './figures.ts'
import type { Figure, Results, Run } from './record.ts'

/** READMEs with figures of docs/results.json. */
export const READMES: readonly string[] = [
  'README.md',
  ...['aggregator-gateway', 'clustered-server', 'fastify-write-batching', 'next-on-fastify', 'trpc-fastify'].map(
    (name) => `packages/${name}/README.md`,
  ),
]

const IN_LINE = /<!--= (?!table )([\w ,./-]+?) -->.*?<!--\/-->/g
const TABLE = /<!--= table ([\w-]+) -->\n[\s\S]*?<!--\/ table -->/g

/** The text of a README with the figures of the results. */
export function withFigures(text: string, results: Results): string {
  return text
    .replaceAll(TABLE, (_, name: string) => {
      return `<!--= table ${name} -->\n\n${tableText(tableOf(name), results)}\n\n<!--/ table -->`
    })
    .replaceAll(IN_LINE, (_, expression: string) => `<!--= ${expression} -->${valueOf(expression, results)}<!--/-->`)
}

/** The text without figures and their markers, to find figures that have none. */
export function withoutFigures(text: string): string {
  return text.replaceAll(TABLE, '').replaceAll(IN_LINE, '')
}

function tableOf(name: string): Table {
  const table = tables[name]
  if (!table) throw new Error(`Unknown table "${name}": expected one of ${Object.keys(tables).join(', ')}.`)
  return table
}

function tableText({ head, rows }: Table, results: Results): string {
  const filled = rows.map((cells) =>
    cells.map((cell) => cell.replaceAll(/\{([^}]+)\}/g, (_, expression: string) => valueOf(expression, results))),
  )
  return markdownTable([[...head], ...filled])
}

/** The machine and the command of each run of a table, and its rows if there are several. */
function sourceOf({ rows }: Table, { runs, figures }: Results): string {
  const runsOfRow = rows.map((cells) => {
    const names = cells.flatMap((cell) => [...cell.matchAll(/\{([\w-]+) /g)].map(([, name]) => name!))
    return [...new Set(names.map((name) => figures[name as FigureName].run))]
  })
  const used = [...new Set(runsOfRow.flat())]
  return used
    .map((name) => {
      const own = runsOfRow.flatMap((row, index) => (row.includes(name) ? [index + 1] : []))
      return runText(runs[name]!, used.length > 1 ? own : [])
    })
    .join('; ')
}

function runText({ machine, node, date, command }: Run, rows: readonly number[]): string {
  const which = rows.length > 0 ? ` (${rows.length > 1 ? 'rows' : 'row'} ${rows.join(', ')})` : ''
  return `${machine}, Node ${node}, ${date}, \`${command}\`${which}`
}

/** The text of an expression: one figure or several, separated by commas, and a format. */
export function valueOf(expression: string, results: Results): string {
  const [names = '', format = ''] = expression.split(' ')
  if (format === 'source') return sourceOf(tableOf(names), results)
  const { figures } = results
  const chosen = names.split(',').map((name) => {
    const figure = (figures as Readonly<Record<string, Figure>>)[name]
    if (!figure) throw new Error(`Unknown figure "${name}" in "${expression}".`)
    return figure
  })
  const formatted = FORMATS[format]?.(chosen)
  if (formatted === undefined) {
    throw new Error(`Unknown format in "${expression}": expected one of ${Object.keys(FORMATS).join(', ')}.`)
  }
  return formatted
}

const FORMATS: Readonly<Record<string, (figures: readonly Figure[]) => string>> = {
  /** 4.02x */
  ratio: ([figure]) => `${digits(figure!.ratio)}x`,
  /** 3.26 to 4.97 */
  interval: ([figure]) => `${digits(figure!.low)} to ${digits(figure!.high)}`,
  /** 4.02x (3.26 to 4.97) */
  full: ([figure]) => `${digits(figure!.ratio)}x (${digits(figure!.low)} to ${digits(figure!.high)})`,
  /** 4.0 */
  short: ([figure]) => figure!.ratio.toFixed(1),
  /** 16.9 µs */
  ours: ([figure]) => microseconds(figure!.ours),
  /** 254 µs */
  theirs: ([figure]) => microseconds(figure!.theirs),
  /** 2.7 to 5.3 */
  range: (figures) => {
    const ratios = figures.map(({ ratio }) => ratio)
    return `${Math.min(...ratios).toFixed(1)} to ${Math.max(...ratios).toFixed(1)}`
  },
}

/** Three digits. */
function digits(value: number): string {
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
}

function microseconds(value: number | undefined): string {
  if (value === undefined) throw new Error('This figure has no CPU per request.')
  return `${Number(digits(value))} µs`
}
