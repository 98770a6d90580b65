import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import type { Comparison } from '../../../src/compare/comparison.ts'
import type { RaceResult } from '../../../src/index.ts'
import { toBencher, toGithubActionBenchmark } from '../../../src/report/export-benchmarks.ts'
import { toCsv } from '../../../src/report/export-csv.ts'
import { toMarkdown } from '../../../src/report/tables.ts'
import { recordedFunctions } from '../../helpers/recorded-functions.ts'
import { measuredLoad, phase, recordedLoad } from '../../helpers/recorded-load.ts'
import { comparisonOf, recorded } from '../../helpers/recorded-result.ts'

const read = (path: string): unknown => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'))

/** The errors of a document, by a schema that is written from the documentation of its format. */
function objections(schema: string, document: unknown): unknown {
  const validate = new Ajv({ strict: true }).compile(read(`fixtures/${schema}`) as object)
  return validate(document) ? [] : validate.errors
}

const result = recorded()
const comparison = comparisonOf(result)
const [first] = result.summaries as [RaceResult['summaries'][number]]

it('the recorded result has the schema of today', () => {
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(
    JSON.parse(readFileSync(new URL('../../../result.schema.json', import.meta.url), 'utf8')) as object,
  )
  validate(result)
  expect(validate.errors).toBeNull()
  expect(first.latency!.percentiles.length).toBeGreaterThan(8)
})

describe.each<[string, RaceResult | Comparison]>([
  ['a race', result],
  ['a comparison', comparison],
])('github-action-benchmark from %s', (_, document) => {
  it.each([undefined, 'throughput'] as const)('has its schema, with the metric %s', (metric) => {
    expect(objections('github-action-benchmark.schema.json', toGithubActionBenchmark(document, metric))).toEqual([])
  })

  it('never mixes metrics of both directions', () => {
    const units = (metric?: 'throughput'): string[] => [
      ...new Set(toGithubActionBenchmark(document, metric).map(({ unit }) => unit)),
    ]
    expect(units()).toEqual(['µs', 'ms', 'bytes'])
    expect(units('throughput')).toEqual(['requests/s'])
  })

  it('has different names', () => {
    const names = toGithubActionBenchmark(document).map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })
})

describe.each<[string, RaceResult | Comparison]>([
  ['a race', result],
  ['a comparison', comparison],
])('Bencher Metric Format from %s', (_, document) => {
  it.each([undefined, 'cpu', 'throughput'] as const)('has its schema, with the metric %s', (metric) => {
    const metrics = toBencher(document, metric)
    expect(objections('bencher-metric-format.schema.json', metrics)).toEqual([])
    expect(Object.keys(Object.values(metrics)[0]!)).toHaveLength(metric === undefined ? 5 : 1)
  })

  it('has each value between its bounds', () => {
    for (const measures of Object.values(toBencher(document))) {
      for (const { value, lower_value: low, upper_value: high } of Object.values(measures)) {
        expect(low).toBeLessThanOrEqual(value)
        expect(high).toBeGreaterThanOrEqual(value)
      }
    }
  })
})

it('exports the figures of the result', () => {
  const name = `${first.subject}, ${first.case}`
  expect(toGithubActionBenchmark(result)).toContainEqual(
    expect.objectContaining({ name: `${name}: CPU per request`, unit: 'µs', value: first.mean.cpu }),
  )
  expect(toBencher(result)[name]!['throughput']!.value).toBe(first.mean.throughput)
})

it('exports the head of a comparison under names without its commit', () => {
  expect(toGithubActionBenchmark(comparison, 'cpu')).toMatchObject([
    { name: 'server, GET /: CPU per request', value: comparison.races['server']!.summaries[1]!.mean.cpu },
  ])
})

it('the schemas reject other documents', () => {
  expect(objections('github-action-benchmark.schema.json', [{ name: 'a', value: '1', unit: 's' }])).not.toEqual([])
  expect(objections('github-action-benchmark.schema.json', {})).not.toEqual([])
  expect(objections('bencher-metric-format.schema.json', { a: { b: { lower_value: 1 } } })).not.toEqual([])
  expect(objections('bencher-metric-format.schema.json', { a: { b: 1 } })).not.toEqual([])
})

describe('CSV', () => {
  it('has a row for each round, with all of its values', () => {
    const [head, ...rows] = toCsv(result).trimEnd().split('\n')
    expect(rows).toHaveLength(result.rounds.length)
    const known = new Set(result.rounds.flatMap((round) => Object.keys(round)))
    expect([...known].filter((name) => !head!.split(',').includes(name))).toEqual([])
    const [round] = result.rounds
    expect(rows[0]!.split(',')[head!.split(',').indexOf('cpu')]).toBe(String(round!.cpu))
  })

  it('has the rounds of all races of a comparison', () => {
    expect(toCsv(comparison).trimEnd().split('\n')).toHaveLength(comparison.races['server']!.rounds.length + 1)
  })

  it('has a row for each process of functions', () => {
    const results = recordedFunctions()
    const [head, ...rows] = toCsv(results).trimEnd().split('\n')
    expect(rows).toHaveLength(results.reduce((sum, { rounds }) => sum + rounds.length, 0))
    expect(head).toBe(toCsv(result).split('\n')[0])
    expect(rows[0]).toContain(',split,1,"parse.bench.mjs, short",')
    expect(toCsv(results[0]).trimEnd().split('\n')).toHaveLength(results[0].rounds.length + 1)
  })

  it('has a row for each rate of a load, with all of its values', () => {
    const load = measuredLoad()
    const [head, ...rows] = toCsv(load).trimEnd().split('\n')
    expect(rows).toHaveLength(load.phases.length)
    const cells = Object.fromEntries(head!.split(',').map((name, index) => [name, rows[1]!.split(',')[index]]))
    const [, second] = load.phases
    expect(cells).toMatchObject({ load: '25%', from: String(second!.rate!.from), p99: String(second!.latency!.p99) })
    expect(cells).toMatchObject({ cpu: String(second!.server!.cpu), ceiling: String(load.ceiling!.rate) })
    const { percentiles: _percentiles, ...latency } = second!.latency!
    const { message: _message, ...failures } = second!.failures
    const known = [second!.server!, second!.generator, latency, failures].flatMap((part) => Object.keys(part))
    expect(known.filter((name) => !(name in cells) && name !== 'utilization')).toEqual([])
  })

  it('has empty cells for what a load does not have, and a last row for all stages', () => {
    const total = { ...phase, load: 'all stages', rate: null, latency: null, server: null }
    const [, , last] = toCsv(recordedLoad({ total })).trimEnd().split('\n')
    expect(last).toMatch(/^all stages,,,4000,10000,20000,1999\.6,0,0,0,,,,,,,,,,,,0\.2,/)
  })

  it('quotes names, and gives formulas of a spreadsheet no meaning', () => {
    const rounds = ['a,b', 'say "hi"', 'two\nlines', '=HYPERLINK("http://x")', '@a', '+1', '-1'].map((subject) => ({
      ...result.rounds[0]!,
      subject,
    }))
    const text = toCsv({ ...result, rounds })
    for (const cell of [`"a,b"`, `"say ""hi"""`, `"two\nlines"`, `"'=HYPERLINK(""http://x"")"`, `'@a`, `'+1`, `'-1`]) {
      expect(text).toContain(`,${cell},`)
    }
  })
})

it('Markdown gives names of a race no meaning', () => {
  const name = 'a|b<img src=x>\n@everyone [x](y) `c`'
  const text = toMarkdown({
    ...result,
    cases: [{ ...result.cases[0]!, name }],
    summaries: [{ ...first, case: name, subject: name }],
    claims: [{ ...result.claims[0]!, case: name, over: name }],
  })
  expect(text).toContain(String.raw`| a\|b&lt;img src=x&gt; @${'\u200B'}everyone \[x\](y) \`c\` |`)
  expect(text).not.toMatch(/<|@everyone|[^\\]\[x/)
})
