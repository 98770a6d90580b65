import { inspect, stripVTControlCharacters } from 'node:util'

/** Longer reasons are cut. */
const MAX_LENGTH = 500

/**
 * The message of any error in one line, for the message of another error. Compilers, databases and assertions write
 * several lines, some with colors or a stack.
 *
 * @example
 * reasonOf(new Error('Build failed:\n  app.ts:3: Unexpected "}"'))
 * // Build failed: app.ts:3: Unexpected "}"
 */
export function reasonOf(error: unknown): string {
  const lines = stripVTControlCharacters(textOf(error)).split(/[\r\n]+/)
  const line = lines
    .filter((text) => !isFrame(text))
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join(' ')
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line
}

/** An error of several connections has no message of its own. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : inspect(error)
  if (error.message !== '') return error.message
  return error instanceof AggregateError ? error.errors.map(textOf).join(', ') : error.name
}

/** Whether a line is one of a stack. */
function isFrame(text: string): boolean {
  return /^\s+at .*:\d+:\d+\)?$/.test(text)
}
