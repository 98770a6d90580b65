// Options as the TSDoc of a source has them, and as the tables of a README do.

export interface DocumentedOption {
  readonly option: string
  readonly meaning: string
  readonly standard: string
}

/** The options of an interface, as its TSDoc has them. */
export function optionsOf(source: string, name: string): DocumentedOption[] {
  const body = new RegExp(`export interface ${name}\\b[^{]*\\{([\\s\\S]*?)\\n\\}`).exec(source)![1]!
  return [...body.matchAll(/\/\*\*([\s\S]*?)\*\/\s*([\w$]+)\??:/g)].map(([, comment, option]) => {
    const [meaning, standard = ''] = comment!
      .replaceAll(/\s*\n\s*\*\s?/g, ' ')
      .trim()
      .split(' @default ')
    return { option: option!, meaning: meaning!, standard }
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
