// Options as the TSDoc of a source has them, and the tables of a page that are made from them.

export interface DocumentedOption {
  readonly option: string
  readonly meaning: string
  readonly standard: string
  /** Its TypeScript type, if that has one line. */
  readonly type: string
}

/** Cells of a table, row by row, without its head. */
export type Rows = readonly (readonly string[])[]

/** The options of an interface, as its TSDoc has them. */
export function optionsOf(source: string, name: string): DocumentedOption[] {
  const body = new RegExp(`export interface ${name}\\b[^{]*\\{([\\s\\S]*?)\\n\\}`).exec(source)![1]!
  return [...body.matchAll(/\/\*\*([\s\S]*?)\*\/\s*([\w$]+)\??: ?(.*)/g)].map(([, comment, option, type]) => {
    const [meaning, standard = ''] = comment!
      .replaceAll(/\s*\n\s*\*\s?/g, ' ')
      .trim()
      .split(' @default ')
    return { option: option!, meaning: meaning!, standard, type: type! }
  })
}

/** The rows of a README's tables, cell by cell. */
export function rowsOf(readme: string): string[][] {
  return readme
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

/** A table as oxfmt formats it. */
export function tableOf(rows: Rows): string {
  const widths = rows[0]!.map((_, column) => Math.max(3, ...rows.map((row) => row[column]!.length)))
  const [head, ...others] = rows.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`,
  )
  return [head, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...others].join('\n')
}

/**
 * A page with new rows in its tables of options, in their order. Such a table has a head that begins with `option`. A test
 * compares the result with the page by `toMatchFileSnapshot`, so that `vitest run --project docs -u` writes it.
 */
export function withOptionRows(page: string, tables: readonly Rows[]): string {
  const found = page.match(OPTION_TABLE) ?? []
  if (found.length !== tables.length)
    throw new Error(`expected ${tables.length} tables of options, the page has ${found.length}`)
  let index = 0
  return page.replaceAll(OPTION_TABLE, (table) => `${tableOf([rowsOf(table)[0]!, ...tables[index++]!])}\n`)
}

const OPTION_TABLE = /^\| option .*\n(?:\|.*\n)+/gm
