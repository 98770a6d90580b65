const MAX_LINES = 12

/**
 * Lines of a program's output, for the end of an error message. These are the last ones, or those from the first mention
 * of the cause: npm writes its whole help after it.
 */
export function quoteOutput(output: string, cause?: RegExp): string {
  const lines = output.trimEnd().split('\n')
  const last = Math.max(0, lines.length - MAX_LINES)
  const mention = cause === undefined ? -1 : lines.findIndex((line) => cause.test(line))
  const first = mention === -1 ? last : Math.min(mention, last)
  const quoted = lines.slice(first, first + MAX_LINES)
  return quoted.join('') === '' ? '' : `\n${quoted.map((line) => `  | ${line}`).join('\n')}`
}
