import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import type { CaseComparison, Comparison } from '../../../src/compare/comparison.ts'
import { comparisonToMarkdown, comparisonToTerminal } from '../../../src/report/comparison-tables.ts'

const one = (values: Partial<CaseComparison>): CaseComparison => ({
  ...{ subject: 'server', case: 'GET /', verdict: 'slower', gate: 'broken' },
  ...{ ratio: 0.9, low: 0.88, high: 0.92, confidence: 0.995, base: 10, head: 11.1 },
  ...values,
})

const comparison = (cases: CaseComparison[], head = 'working tree'): Comparison => ({
  ...{ kind: 'comparison', version: 1, startedAt: '', finishedAt: '', margin: 0.05, metric: 'cpu', cases, races: {} },
  base: { ref: 'main', commit: '0123456789abcdef' },
  head: { ref: head, commit: 'fedcba9876543210' },
})

/** Of a case whose budget ended before the first look at the data. */
const UNKNOWN = { ratio: null, low: null, high: null, confidence: null }

it('shows verdict, interval and figures of each case, in lines of at most 80 columns', () => {
  const text = stripVTControlCharacters(
    comparisonToTerminal(
      comparison([
        one({}),
        one({ verdict: 'within', ratio: 1.01, low: 0.97, high: 1.04 }),
        one({ verdict: 'inconclusive', ...UNKNOWN, head: null }),
        one({ verdict: 'inconclusive', ...UNKNOWN, base: null, head: null }),
      ]),
    ),
  )
  expect(text.split('\n').slice(1, -1)).toEqual([
    'server, GET /: slower',
    '  0.900x (0.880x to 0.920x, 99.5 % interval)',
    '  CPU per request: 10.0 µs -> 11.1 µs',
    'server, GET /: within ±5 %',
    '  1.01x (0.970x to 1.04x, 99.5 % interval)',
    '  CPU per request: 10.0 µs -> 11.1 µs',
    'server, GET /: inconclusive',
    '  not enough data for an interval: raise the budget',
    '  CPU per request: 10.0 µs -> none',
    'server, GET /: inconclusive',
    '  not enough data for an interval: raise the budget',
  ])
  for (const line of text.split('\n').slice(0, -1)) expect(line.length).toBeLessThanOrEqual(80)
})

it('writes a table for a comment', () => {
  expect(comparisonToMarkdown(comparison([one({})]))).toContain(
    '| server  | GET / | 10.0 µs | 11.1 µs | 0.900x (0.880x to 0.920x, 99.5 % interval) | 🔴 **slower** |',
  )
})

it('names a commit without another name once', () => {
  const [headline] = comparisonToMarkdown(comparison([one({})], 'fedcba987654')).split('\n')
  expect(headline).toBe('### fedcba987654 compared with main (0123456789ab)')
})

it('gives names in Markdown no meaning', () => {
  const text = comparisonToMarkdown(
    comparison([one({ case: 'a|b<img src=x>\n@everyone [x](y) `c`' })], 'feature/<script>'),
  )
  expect(text).toContain(String.raw`| a\|b&lt;img src=x&gt; @${'\u200B'}everyone \[x\](y) \`c\` |`)
  expect(text).not.toMatch(/<|@everyone|[^\\]\[/)
})
