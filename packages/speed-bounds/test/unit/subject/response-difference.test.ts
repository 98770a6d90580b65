import { expect, it } from 'vitest'
import { difference, shortText } from '../../../src/subject/response-difference.ts'

it('shows the lines that differ, by sender', () => {
  expect(difference('status: 200\n\nok', 'status: 200\n\n<p>ok', 'a', 'b')).toBe(
    '--- a\n+++ b\n@@ -1,3 +1,3 @@\n status: 200\n \n-ok\n+<p>ok',
  )
})

it('tells that only one body ends with a line break', () => {
  expect(difference('ok', 'ok\n', 'a', 'b')).toBe(
    '--- a\n+++ b\n@@ -1,1 +1,1 @@\n-ok\n\\ No newline at end of file\n+ok',
  )
})

it('shows the place of the difference in long lines', () => {
  const [before, after] = ['x'.repeat(100_000), 'y'.repeat(100_000)]
  const shown = difference(`${before}1${after}`, `${before}2${after}`, 'a', 'b').split('\n').slice(3)
  expect(shown).toEqual([`-…${'x'.repeat(60)}1${'y'.repeat(239)}…`, `+…${'x'.repeat(60)}2${'y'.repeat(239)}…`])
})

it('shows a short line beside a long one', () => {
  const shown = difference('x'.repeat(500), 'x', 'a', 'b').split('\n').slice(3)
  expect(shown).toEqual([`-${'x'.repeat(300)}…`, '+x'])
})

it('shows the first lines of many', () => {
  const text = Array.from({ length: 1000 }, (_, line) => `line ${line}`).join('\n')
  expect(shortText(text).split('\n')).toEqual([
    ...Array.from({ length: 60 }, (_, line) => `line ${line}`),
    '… and 940 more lines',
  ])
  const few = text.split('\n').slice(0, 200).join('\n')
  expect(difference(few, '', 'a', 'b').split('\n').at(-1)).toMatch(/^… and \d+ more lines$/)
})

it('shows the first line that differs where most lines do', () => {
  const body = (name: string): string =>
    `same\n${Array.from({ length: 20_000 }, (_, line) => `${name} ${line}`).join('\n')}`
  expect(difference(body('one'), body('two'), 'a', 'b')).toBe('--- a\n+++ b\n@@ -2,1 +2,1 @@\n-one 0\n+two 0')
  expect(difference('same', `same\n${body('two')}`, 'a', 'b')).toMatch(/^--- a\n\+\+\+ b\n@@ -2,1 \+2,1 @@\n-\n\+same$/)
})
