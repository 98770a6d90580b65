import { markdownTable } from 'markdown-table'
import { styleText } from 'node:util'
import { markdownText } from './markdown-text.ts'
import { widthOf } from './terminal-width.ts'

/** A column of a table. */
export interface Column {
  readonly title: string
  readonly align: 'left' | 'right'
  /** A terminal that is too narrow loses the columns with the highest number first. 0: never. */
  readonly rank: number
}

const GAP = '   '

type Rows = readonly (readonly string[])[]

/**
 * The lines of a table with aligned columns and no borders, or none without rows. Its first column is bold. Columns are
 * left out until it fits into the terminal.
 */
export function drawTable(columns: readonly Column[], rows: Rows, maxWidth: number): string[] {
  if (rows.length === 0) return []
  const widths = columns.map(({ title }, index) => Math.max(widthOf(title), ...rows.map((row) => widthOf(row[index]!))))
  const shown = fitting(columns, widths, maxWidth)
  const lineOf = (cells: readonly string[], paint: (text: string, index: number) => string): string =>
    shown
      .map((index) => {
        const filler = ' '.repeat(widths[index]! - widthOf(cells[index]!))
        const text = paint(cells[index]!, index)
        return columns[index]!.align === 'left' ? text + filler : filler + text
      })
      .join(GAP)
      .trimEnd()
  const titles = columns.map(({ title }) => title)
  return [
    ` ${lineOf(titles, (text) => styleText('dim', text))}`,
    ...rows.map((row) => ` ${lineOf(row, (text, index) => (index === 0 ? styleText('bold', text) : text))}`),
  ]
}

/** A table of text of others as Markdown, or nothing without rows. */
export function drawMarkdown(columns: readonly Column[], rows: Rows): string[] {
  if (rows.length === 0) return []
  const titles = columns.map(({ title }) => title)
  const align = columns.map((column) => column.align)
  return [markdownTable([titles, ...rows.map((row) => row.map(markdownText))], { align })]
}

/** Indexes of the columns that fit. */
function fitting(columns: readonly Column[], widths: readonly number[], maxWidth: number): number[] {
  let shown = columns.map((_, index) => index)
  const total = (): number => shown.reduce((sum, index) => sum + widths[index]! + GAP.length, 1 - GAP.length)
  while (total() > maxWidth) {
    const last = Math.max(...shown.map((index) => columns[index]!.rank))
    if (last === 0) break
    shown = shown.filter((index) => columns[index]!.rank !== last)
  }
  return shown
}
