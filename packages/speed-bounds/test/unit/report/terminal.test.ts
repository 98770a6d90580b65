import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { toMarkdown, toTerminal } from '../../../src/index.ts'
import { comparisonToTerminal } from '../../../src/report/comparison-tables.ts'
import { cut, widthOf, wrap } from '../../../src/report/terminal-width.ts'
import { comparisonOf, recorded } from '../../helpers/recorded-result.ts'

const result = recorded()
const linesOf = (text: string): string[] => stripVTControlCharacters(text).split('\n')

describe.each([30, 40, 60, 80, 100])('in a terminal of %i columns', (columns) => {
  it('no line of a result is longer', () => {
    const long = {
      ...result,
      summaries: result.summaries.map((one) => ({ ...one, subject: `${one.subject}-名前`.repeat(8) })),
    }
    for (const document of [result, long]) {
      for (const line of linesOf(toTerminal(document, { columns }))) expect(widthOf(line)).toBeLessThanOrEqual(columns)
    }
  })

  it('no line of a comparison is longer', () => {
    const { cases, ...rest } = comparisonOf(result)
    const named = cases.map((one) => ({ ...one, case: 'a long name of a case '.repeat(5) }))
    for (const line of linesOf(comparisonToTerminal({ ...rest, cases: named }, { columns }))) {
      expect(widthOf(line)).toBeLessThanOrEqual(columns)
    }
  })

  it('the table keeps CPU per request', () => {
    expect(linesOf(toTerminal(result, { columns }))[1]).toMatch(/^ subject +CPU\/request/)
  })
})

it('a narrow table loses the columns that matter least', () => {
  expect(linesOf(toTerminal(result, { columns: 70 }))[1]).toMatch(/requests\/s .*p99/)
  expect(linesOf(toTerminal(result, { columns: 70 }))[1]).not.toMatch(/peak/)
  expect(linesOf(toTerminal(result))[1]).toMatch(/p50 .*memory +peak +limited by$/)
})

it('leaves the table out before the first round, as Markdown too', () => {
  const claims = result.claims.map((claim) => ({ ...claim, estimates: [] }))
  const unmeasured = { ...result, summaries: [], rounds: [], claims }
  expect(linesOf(toTerminal(unmeasured)).join('\n')).not.toContain('CPU/request')
  expect(toMarkdown(unmeasured)).not.toContain('CPU/request')
  expect(toMarkdown(unmeasured)).toMatch(/\*\*holds\*\* +\| not enough data yet \|/)
})

it('aligns columns of wide characters', () => {
  const rows = linesOf(
    toTerminal({
      ...result,
      summaries: result.summaries.map((one, index) => ({ ...one, subject: ['a', '名前', '👍'][index]! })),
    }),
  ).slice(2, 5)
  expect(new Set(rows.map((row) => widthOf(row.split(' µs')[0]!))).size).toBe(1)
})

it.each<[text: string, columns: number, expected: string]>([
  ['short', 10, 'short'],
  ['one two three', 8, 'one two\n  three'],
  ['  indented words wrap deeper', 16, '  indented words\n    wrap deeper'],
  ['a b\nc d', 10, 'a b\nc d'],
  ['unbreakable', 5, 'unbr…'],
])('wraps %j at %i columns', (text, columns, expected) => expect(wrap(text, columns)).toBe(expected))

it.each<[text: string, columns: number, expected: string]>([
  ['abcdef', 6, 'abcdef'],
  ['abcdef', 4, 'abc…'],
  ['名前名前', 5, '名前…'],
])('cuts %j to %i columns', (text, columns, expected) => expect(cut(text, columns)).toBe(expected))
