import { type ProgressLine, progressLine } from '../report/progress-line.ts'
import type { Place } from '../report/tables.ts'

/** Progress on stderr. */
export const line: ProgressLine = progressLine()

/** The terminal of stdout. A file or a pipe has no columns. */
export const terminal: Place = process.stdout.isTTY ? { columns: process.stdout.columns } : {}

/** Prints results on stdout. */
export function print(text: string): void {
  line.clear()
  process.stdout.write(`${text}\n`)
}
