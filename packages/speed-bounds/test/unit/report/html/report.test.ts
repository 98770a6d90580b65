import { optionsOf } from 'checked-options'
import { describe, expect, it } from 'vitest'
import type { RaceResult } from '../../../../src/index.ts'
import { toHtml } from '../../../../src/index.ts'
import { raceSchema } from '../../../../src/options/schema.ts'
import { html, type Markup } from '../../../../src/report/html/markup.ts'
import { axisOf, labelsAcross, thinned } from '../../../../src/report/html/plot.ts'
import { repeatCommand } from '../../../../src/report/html/repeat-command.ts'
import { ACTIVE, describesPlots, EVIL, MAX_SIZE, renamed } from '../../../helpers/html-report.ts'
import { comparisonOf, recorded } from '../../../helpers/recorded-result.ts'

const result = recorded()
describe('the report of a race', () => {
  const page = toHtml(result)

  it('loads nothing and runs nothing', () => {
    expect(page).not.toMatch(ACTIVE)
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`)
  })

  it.each([
    'Ratios',
    'CPU per request, by round',
    'Latency by percentile',
    'Memory over time',
    'Bottleneck',
    'Conditions',
  ])('has the part: %s', (title) => expect(page).toMatch(new RegExp(`<h[24]>${title}</h[24]>`)))

  it('has a card with the verdict of each claim', () => {
    expect(page.match(/<article class="card/g)).toHaveLength(result.claims.length)
    for (const { verdict } of result.claims) expect(page).toContain(`</span> ${verdict}</p>`)
  })

  it('describes each plot in words', () => describesPlots(page, 9))

  it('is the same for the same document', () => expect(toHtml(recorded())).toBe(page))
})

it('has no label twice on the axes of memory over time, of a race of few seconds and megabytes', () => {
  const rounds = result.rounds.map((round, index) => ({
    ...round,
    at: 12_000 + (2000 * index) / result.rounds.length,
    rss: 1e8 + 3e4 * index,
  }))
  const plot = /Memory over time.*?<\/figure>/s.exec(toHtml({ ...result, rounds }))![0]
  const labels = [...plot.matchAll(/>([\d.]+ (?:s|MB))</g)].map(([, label]) => label)
  expect(labels).toContain('12.5 s')
  expect(new Set(labels).size).toBe(labels.length)
})

it('gives names, paths and commands no meaning', () => {
  for (const document of [renamed(result), renamed(comparisonOf(result))]) {
    const page = toHtml(document)
    expect(page).toContain(EVIL)
    expect(page).not.toMatch(/<script|<img/)
  }
})

it('stays below 300 kB for a race of 12 cases and 6 subjects with 90 rounds each', () => {
  const subjects = Array.from({ length: 6 }, (_, index) => `server-${index}`)
  const cases = Array.from({ length: 12 }, (_, index) => `case ${index}`)
  const [round] = result.rounds
  const [summary] = result.summaries
  const big: RaceResult = {
    ...result,
    subjects: subjects.map((name) => ({ name, command: `node ${name}.ts` })),
    cases: cases.map((name) => ({ ...result.cases[0]!, name })),
    summaries: cases.flatMap((name) => subjects.map((subject) => ({ ...summary!, case: name, subject }))),
    ratios: cases.flatMap((name) =>
      subjects.slice(1).flatMap((over) => result.ratios.slice(0, 5).map((ratio) => ({ ...ratio, over, case: name }))),
    ),
    rounds: cases.flatMap((name) =>
      subjects.flatMap((subject) =>
        Array.from({ length: 90 }, (_, index) => ({
          ...round!,
          ...{ subject, case: name, replica: 1 + (index % 15), at: index * 997, rss: 1e8 + index * 12_345 },
          cpu: 10 + Math.sin(index * 7.1),
        })),
      ),
    ),
  }
  const page = toHtml(big)
  expect(page.length).toBeLessThan(MAX_SIZE)
  expect(page).toContain('The plots of this case are left out')
})

it.each<[string, Partial<RaceResult>]>([
  ['without measurements', { rounds: [], summaries: [], ratios: [], claims: [] }],
  ['without claims', { claims: [] }],
  ['whose claims have no interval', { claims: result.claims.map((claim) => ({ ...claim, estimates: [] })) }],
  ['without histograms', { summaries: result.summaries.map(({ latency: _latency, ...summary }) => summary) }],
  ['without times of rounds', { rounds: result.rounds.map(({ at: _at, ...round }) => round) }],
  ['with a single round', { rounds: result.rounds.slice(0, 1) }],
  ['with rounds of equal cost', { rounds: result.rounds.map((round) => ({ ...round, cpu: 10, rss: 1e8 })) }],
  ['with a CPU of 0', { rounds: result.rounds.map((round) => ({ ...round, cpu: 0 })) }],
  [
    'with an interval without end',
    { ratios: result.ratios.map((ratio) => ({ ...ratio, low: 0, high: Number.MAX_VALUE })) },
  ],
])('draws a result %s', (_, part) => {
  expect(toHtml({ ...result, ...part })).not.toMatch(/NaN|undefined|Infinity/)
})

it('shows a comparison with a card for each case, and its refs', () => {
  const page = toHtml(comparisonOf(result))
  expect(page).toContain('HEAD (fedcba987654) compared with main (0123456789ab)')
  expect(page.match(/<article class="card better"/g)).toHaveLength(1)
  expect(page).toContain('12.0 µs → 10.0 µs')
})

it('has the ratios of a comparison in the direction of its cards', () => {
  const comparison = comparisonOf(result)
  const [one] = result.ratios as [RaceResult['ratios'][number]]
  const baseOverHead = { ...one, contender: 'server@main', over: 'server@HEAD', ratio: 0.8, low: 0.5, high: 1.25 }
  const race = { ...comparison.races['server']!, ratios: [baseOverHead, { ...baseOverHead, low: 0 }] }
  const page = toHtml({ ...comparison, races: { server: race } })
  expect(page).toContain('Right of 1x, server@HEAD is better.')
  expect(page).toContain('server@HEAD over server@main')
  expect(page).toContain('1.25x (0.800x to 2.00x)')
  expect(page).not.toMatch(/NaN|Infinity/)
})

it('draws an interval that the verdict does not use in gray', () => {
  const claims = result.claims.map((claim) => ({
    ...claim,
    verdict: 'holds' as const,
    estimates: claim.estimates.map((estimate) => ({ ...estimate, disturbed: true })),
  }))
  const [cards] = toHtml({ ...result, claims, ratios: [] }).match(/<section class="cards"[^]*?<\/section>/) ?? []
  expect(cards).toContain('class="bar open"')
  expect(cards).not.toContain('class="bar better"')
})

it('says what a case without data needs', () => {
  const comparison = comparisonOf(result)
  const unknown = { ratio: null, low: null, high: null, confidence: null, base: null, head: null }
  const cases = comparison.cases.map((one) => ({ ...one, verdict: 'inconclusive' as const, ...unknown }))
  const page = toHtml({ ...comparison, cases })
  expect(page).toContain('<p class="soft">not enough data for an interval: raise the budget</p>')
  expect(page).not.toContain('none → none')
})

describe('the profiles', () => {
  const page = toHtml(result)

  it('are flame graphs, described in words, with a table of the functions that differ', () => {
    expect(page.match(/class="flame" role="img" aria-label="Flame graph of \w+\. Most self time: /g)).toHaveLength(2)
    expect(page).toContain('Self time: express compared with fastify')
  })

  it('have a box for each call that is large enough to see', () => {
    const [first] = result.profiles!
    const widest = first!.tree.children[0]!
    expect(page).toMatch(new RegExp(`title="${widest.function} \\(${widest.file}\\): \\d`))
  })

  it('are missing in a result without them', () => {
    const { profiles: _profiles, ...without } = result
    expect(toHtml(without)).not.toContain('class="flame"')
  })

  it('of a single subject have a table of its functions', () => {
    expect(toHtml({ ...result, profiles: result.profiles!.slice(0, 1) })).toContain('Self time by function')
  })
})

describe('the command that repeats a race', () => {
  const [first] = result.cases as [RaceResult['cases'][number]]
  it('names the subjects, and the flags that are not the default', () => {
    const text = repeatCommand({
      ...result,
      subjects: [
        { name: 'ours', command: 'node server.ts' },
        { name: 'go', command: `./go --name="a b's" {port}` },
      ],
      cases: [{ ...first, path: '/items?n=1&m=2', method: 'POST' }],
      load: { ...result.load, connections: 10 },
    })
    expect(text).toMatch(/^npx speed-bounds race ours=server\.ts 'go=\.\/go --name="a b'\\''s" \{port\}' --path '/)
    expect(text).toMatch(/--path '\/items\?n=1&m=2' --method POST --connections 10 .*--seed \d+$/)
    expect(text).not.toMatch(/--pipelining|--alpha/)
  })

  it('leaves out all flags whose values are the defaults of the options', () => {
    const defaults = new Map(optionsOf(raceSchema).map((option) => [option.name.split('.').at(-1)!, option.default]))
    const withDefaults = <T extends object>(values: T): T =>
      Object.fromEntries(Object.entries(values).map(([name, value]) => [name, defaults.get(name) ?? value])) as T
    const cases = [{ ...first, path: '/', method: 'GET' }]
    const { load, method } = result
    const text = repeatCommand({
      ...{ ...result, cases, claims: [] },
      ...{ load: { ...withDefaults(load), amount: null }, method: withDefaults({ ...method, turn: 200 }) },
    })
    expect(text.match(/--[\w-]+/g)).toEqual(['--seed'])
  })

  it.each([
    ['has the length of turns', { duration: 800 }, { turn: 100 }, '100ms'],
    ['has turns as long as a round', { duration: 800 }, { turn: 800 }, '800ms'],
    ['leaves out the default length of turns', { duration: 800 }, { turn: 200 }, undefined],
    ['leaves out turns of a round that is shorter', { duration: 150 }, { turn: 150 }, undefined],
    ['leaves out turns of a generator without them', { duration: 2000, generator: 'wrk' }, { turn: 2000 }, undefined],
  ] as const)('%s', (_, load, method, turn) => {
    const changed = { load: { ...result.load, ...load }, method: { ...result.method, ...method } }
    expect(/--turn (\S+)/.exec(repeatCommand({ ...result, ...changed }))?.[1]).toBe(turn)
  })

  it('names each script once for several versions of Node', () => {
    const named = (name: string): RaceResult['subjects'][number] => ({ name, command: 'node server.js' })
    const subjects = ['server@node-22.1.0', 'server@node-24.0.0'].map(named)
    expect(repeatCommand({ ...result, subjects })).toContain('race server=server.js --node 22.1.0,24.0.0 ')
  })

  it('gives subjects names that the command line takes', () => {
    const subjects = ['a b', 'server@main'].map((name) => ({ name, command: './go {port}' }))
    expect(repeatCommand({ ...result, subjects })).toContain("race 'a-b=./go {port}' 'server-main=./go {port}' ")
  })

  it('has the bound and the metric of its claim', () => {
    const [one, other] = result.subjects as [RaceResult['subjects'][number], RaceResult['subjects'][number]]
    const [decided] = result.claims as [RaceResult['claims'][number]]
    const claim = { ...decided, contender: one.name, over: other.name, atLeast: 1.2 }
    const estimates = [{ ...decided.estimates[0]!, metric: 'cpu' as const }]
    const text = repeatCommand({ ...result, subjects: [one, other], claims: [{ ...claim, estimates }] })
    expect(text).toContain(' --at-least 1.2 --metric cpu ')
    expect(repeatCommand({ ...result, claims: [] })).not.toMatch(/--at-least|--metric/)
  })

  it('is that of the configuration for several cases', () => {
    expect(repeatCommand({ ...result, cases: [first, { ...first, name: 'other' }] })).toBe('npx speed-bounds run')
  })
})

it.each<[Markup, string]>([
  [html`<p title="${`a"b'c`}">${'<&>'}</p>`, '<p title="a&quot;b&#39;c">&lt;&amp;&gt;</p>'],
  [html`${[html`<b>x</b>`, '<i>', 1, undefined]}`, '<b>x</b>&lt;i&gt;1'],
])('a template escapes every value that is not markup', ({ text }, expected) => expect(text).toBe(expected))

it.each<[values: number[], ticks: number]>([
  [[1, 1.2], 2],
  [[0.5, 40], 2],
  [[1e-3, 1e6], 2],
  [[5, 5], 1],
  [[], 1],
])('an axis over %j has some ticks, in ascending order', (values, least) => {
  const { ticks } = axisOf(values)
  expect(ticks.length).toBeGreaterThanOrEqual(least)
  expect(ticks.length).toBeLessThanOrEqual(8)
  expect(ticks).toEqual(ticks.toSorted((a, b) => a - b))
})

it('the ticks of a logarithmic axis have room for their labels', () => {
  const axis = axisOf([0.85, 3.7], { kind: 'log', count: 4 })
  const gaps = axis.ticks.slice(1).map((tick, index) => axis(tick) - axis(axis.ticks[index]!))
  expect(axis.ticks).toEqual([1, 2])
  expect(Math.min(...gaps)).toBeGreaterThan(8)
})

it('a phone shows every second label of many, and the last one', () => {
  const axis = Object.assign((tick: number) => 20 * tick, { ticks: [0, 1, 2, 3, 4] })
  const { text } = labelsAcross(axis, String)
  expect([...text.matchAll(/class="extra"[^>]*>(\d)/g)].map(([, label]) => label)).toEqual(['1', '3'])
})

it('fewer values keep the first and the last one', () => {
  expect(thinned([1, 2, 3, 4, 5, 6, 7, 8, 9], 3)).toEqual([1, 5, 9])
  expect(thinned([1, 2], 3)).toEqual([1, 2])
})
