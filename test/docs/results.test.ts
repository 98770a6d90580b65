// Figures of READMEs are those of docs/results.json, and each ratio in a README is a figure.

import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { RaceResult } from 'speed-bounds'
import { describe, expect, it } from 'vitest'
import { figureSources, HEADLINES, tables } from '../perf/readme-figures/figures.ts'
import { type FinishedRun, readResults, withRun } from '../perf/readme-figures/record.ts'
import { READMES, valueOf, withFigures, withoutFigures } from '../perf/readme-figures/markers.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8')
const results = readResults()

/** The formatter pads the cells of a table. */
const unpadded = (text: string): string => text.replaceAll(/[ -]{2,}/g, ' ')

describe('docs/results.json', () => {
  it('has each figure that a README may state, and no other', () => {
    expect(Object.keys(results.figures).toSorted()).toEqual(Object.keys(figureSources).toSorted())
  })

  it.each(Object.entries(results.figures))('has an interval around %s, and its run', (_, figure) => {
    expect(figure.low).toBeLessThanOrEqual(figure.ratio)
    expect(figure.high).toBeGreaterThanOrEqual(figure.ratio)
    expect(results.runs).toHaveProperty([figure.run])
  })

  it.each(Object.entries(results.runs))('says how the run %s was made', (_, run) => {
    expect(run).toEqual({
      machine: expect.stringMatching(/cores$/),
      node: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      command: expect.stringMatching(/^npx -y pnpm@12 test:perf(:all)?$/),
    })
  })

  it('has a source in the suites for each figure', () => {
    const suites = globSync('test/perf/*.perf.ts', { cwd: ROOT }).map(read).join('\n')
    const titles = Object.values(figureSources).flatMap(({ races }) => races)
    const missing = titles.filter((title) => {
      const [suite, race] = title.split(': ') as [string, string]
      const written = race
        .replace('100 connections', '${connections} connections')
        .replace(/^\$.*, with/, '${connectionsOf(connections)}, with')
      const known = [race, written].some(
        (text) => suites.includes(`title: '${text}'`) || suites.includes(`title: \`${text}\``),
      )
      return !suites.includes(`perfSuite('${suite}'`) || !(known || race === '100 connections')
    })
    expect(missing).toEqual([])
  })
})

describe.each(READMES)('%s', (path) => {
  const text = read(path)

  it('has the figures of docs/results.json', () => {
    expect(
      unpadded(withFigures(text, results)),
      'Run `npx -y pnpm@12 exec node test/perf/readme-figures/write.ts --readmes`',
    ).toBe(unpadded(text))
  })

  it('has no other ratio', () => {
    const rest = withoutFigures(text).replaceAll(/```[\s\S]*?```/g, '')
    expect(rest.match(/\b(?!1x)\d+(?:\.\d+)?x\b|\b\d+\.\d+ times\b/g)).toEqual(null)
  })

  it('changes with a figure', () => {
    const doubled = Object.entries(results.figures).map(([name, figure]) => [
      name,
      { ...figure, ratio: figure.ratio * 2 },
    ])
    const changed = withFigures(text, { ...results, figures: Object.fromEntries(doubled) as typeof results.figures })
    expect(unpadded(changed)).not.toBe(unpadded(text))
  })
})

it('every table of figures is in the README of its package', () => {
  for (const name of Object.keys(tables))
    expect(read(`packages/${name}/README.md`)).toContain(`<!--= table ${name} -->`)
})

it('each headline is a figure', () => {
  expect(
    Object.values(HEADLINES)
      .flat()
      .filter((name) => !(name in results.figures)),
  ).toEqual([])
})

it.each([
  ['no-such ratio', 'Unknown figure "no-such"'],
  ['no-such source', 'Unknown table "no-such"'],
  ['trpc-hello loud', 'Unknown format in "trpc-hello loud"'],
  ['trpc-note ours', 'This figure has no CPU per request.'],
])('rejects the expression %s', (expression, message) => {
  expect(() => valueOf(expression, results)).toThrow(message)
})

describe('a run', () => {
  const estimate = (metric: string, ratio: number): object => ({ metric, ratio, low: ratio - 1, high: ratio + 1 })
  const summary = (subject: string, cpu: number): object => ({ subject, case: 'hello', mean: { cpu } })
  const race = (title: string): FinishedRun['races'][number] => ({
    suite: 'headlines',
    title,
    comparisons: [],
    result: {
      environment: { cpu: 'Some CPU', cores: 4, node: 'v24.1.0' },
      finishedAt: '2027-01-02T03:04:05.000Z',
      summaries: [summary('trpc-fastify', 9.876), summary('official-adapter', 98.76)],
      ratios: [],
      claims: [
        {
          contender: 'trpc-fastify',
          over: 'official-adapter',
          case: 'hello',
          estimates: [estimate('cpu', 10.004), estimate('throughput', 3)],
        },
      ],
    } as unknown as Omit<RaceResult, 'rounds'>,
  })
  const run = (title: string): FinishedRun => ({
    startedAt: Date.parse('2027-01-02T03:00:00Z'),
    command: 'npx -y pnpm@12 test:perf',
    races: [race(title)],
    tables: [],
  })

  it('replaces the figures that it measured, and only these', () => {
    const changed = withRun(results, run('tRPC over the official adapter and over a plain route'))
    const name = '2027-01-02T03:00'
    expect(changed.figures).toEqual({
      ...results.figures,
      'trpc-hello': { run: name, ratio: 10, low: 9, high: 11, ours: 9.88, theirs: 98.8 },
    })
    expect(changed.runs).toEqual({
      ...results.runs,
      [name]: { machine: 'Some CPU, 4 cores', node: '24.1.0', date: '2027-01-02', command: 'npx -y pnpm@12 test:perf' },
    })
    const line = valueOf('trpc-fastify source', changed)
    expect(line).toMatch(
      /^Some CPU, 4 cores, Node 24\.1\.0, 2027-01-02, `npx -y pnpm@12 test:perf` \(row 1\); .* \(rows 1, 2/,
    )
  })

  it('must have measured a figure', () => {
    expect(() => withRun(results, run('another race'))).toThrow('found none')
  })
})
