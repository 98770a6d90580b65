import { type ProgressLine, progressLine } from '../report/progress-line.ts'

/** Progress on stderr. */
export const line: ProgressLine = progressLine()

/** Prints results on stdout. */
export function print(text: string): void {
  line.clear()
  process.stdout.write(`${text}\n`)
}
