/** The end of a subject's stderr, for the end of an error message. */
export function quoteStderr(stderr: string): string {
  const text = stderr.trimEnd()
  if (text === '') return '\nIt wrote nothing to stderr.'
  return `\nIts stderr ends with:\n${text.replaceAll(/^/gm, '  | ')}`
}
