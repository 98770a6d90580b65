import { createTwoFilesPatch } from 'diff'

/** Characters of a line that are shown, and of those before its first difference. */
const SHOWN = { LINE: 300, BEFORE: 60 }
/** Lines that are shown. */
const MAX_LINES = 60
/** Lines that differ, beyond which only the first one is shown. */
const MAX_EDITS = 1000

/** A text of an error message, without the end of long lines and of many lines. */
export function shortText(text: string): string {
  return firstLines(text.split('\n').map((line) => cutLine(line, 0)))
}

/** The lines that differ between two responses, by the names of their senders. */
export function difference(expected: string, got: string, from: string, name: string): string {
  // Without the limit, two bodies of 20,000 lines block the process for more than a minute.
  const limits = { context: 3, maxEditLength: MAX_EDITS }
  const patch =
    createTwoFilesPatch(from, name, expected, got, '', '', limits) ?? firstDifference(expected, got, from, name)
  const all = patch.trimEnd().split('\n').slice(1)
  // A body without a last line break is usual: it is worth a line only if the other one has it.
  const isUsual = !expected.endsWith('\n') && !got.endsWith('\n')
  const lines = isUsual ? all.filter((line) => !line.startsWith('\\')) : all
  const start = Math.max(0, columnOfDifference(expected, got) - SHOWN.BEFORE)
  return firstLines(
    lines.map((line) => (/^[-+]/.test(line) ? line[0] + cutLine(line.slice(1), start) : cutLine(line, 0))),
  )
}

/** The first line that differs, of responses that have little in common. */
function firstDifference(expected: string, got: string, from: string, name: string): string {
  const [left, right] = [expected.split('\n'), got.split('\n')]
  const line = left.findIndex((text, index) => text !== right[index])
  const place = line === -1 ? left.length : line
  return [
    '',
    `--- ${from}`,
    `+++ ${name}`,
    `@@ -${place + 1},1 +${place + 1},1 @@`,
    `-${left[place] ?? ''}`,
    `+${right[place] ?? ''}`,
  ].join('\n')
}

/** Column of the first difference within its line. */
function columnOfDifference(one: string, other: string): number {
  let index = 0
  while (index < one.length && one[index] === other[index]) index++
  return index - (one.lastIndexOf('\n', index - 1) + 1)
}

function cutLine(line: string, start: number): string {
  if (line.length <= SHOWN.LINE) return line
  const from = Math.min(start, line.length - SHOWN.LINE)
  const shown = line.slice(from, from + SHOWN.LINE)
  return `${from > 0 ? '…' : ''}${shown}${from + SHOWN.LINE < line.length ? '…' : ''}`
}

function firstLines(lines: readonly string[]): string {
  if (lines.length <= MAX_LINES) return lines.join('\n')
  return [...lines.slice(0, MAX_LINES), `… and ${lines.length - MAX_LINES} more lines`].join('\n')
}
