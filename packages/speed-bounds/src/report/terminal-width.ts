// Text that fits into a terminal. Widths are in columns: an ideograph or an emoji takes two.

import truncatedWidth from 'fast-string-truncated-width'

/** Columns of a text without escape codes. */
export function widthOf(text: string): number {
  return truncatedWidth(text).width
}

/** The text, cut with an ellipsis where it is wider. */
export function cut(text: string, columns: number): string {
  const { index, truncated } = truncatedWidth(text, { limit: Math.max(1, columns), ellipsis: '…', ellipsisWidth: 1 })
  return truncated ? `${text.slice(0, index)}…` : text
}

/** Breaks each line between words, and indents the rest as deep as its beginning. A longer word is cut. */
export function wrap(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => wrapLine(line, columns))
    .join('\n')
}

function wrapLine(line: string, columns: number): string[] {
  if (widthOf(line) <= columns) return [line]
  const indent = /^ */.exec(line)![0]
  const [first = '', ...words] = line.slice(indent.length).split(' ')
  const lines = [indent + first]
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`
    if (widthOf(longer) <= columns) lines[lines.length - 1] = longer
    else lines.push(`${indent}  ${word}`)
  }
  return lines.map((part) => cut(part, columns))
}
