// The report at the end of a performance run, and the tables that it is made of.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import type { RaceResult } from 'speed-bounds'
import { describe, expect, it } from 'vitest'
import { finalMarkdown, finalReport, finalText } from '../perf/final-report.ts'
import { hottestFunctions } from '../perf/hottest-functions.ts'
import { nodes } from '../perf/node-versions.ts'
import { published } from '../perf/published.ts'
import { type Comparison, comparisonsOf } from '../perf/report.ts'
import { type MeasuredTimes, timesCsv, timesTable } from '../perf/response-times.ts'
import { type FinishedRun, readResults } from '../perf/readme-figures/record.ts'

const estimate = { metric: 'cpu', ratio: 4.5, low: 3.456, high: 5.5 }
const pair = { contender: 'trpc-fastify', over: 'official-adapter', case: 'hello' }
const mean = { cpu: 10, throughput: 20_000, p50: 1, p99: 2, peakRss: 1e8 }
const environment = { cpu: 'Some CPU', cores: 2, system: 'Linux 6', node: 'v24.1.0', commit: 'abc' }

const raceOf = (suite: string, title: string): FinishedRun['races'][number] => ({
  suite,
  title,
  comparisons: [],
  result: {
    environment,
    summaries: [
      { subject: 'trpc-fastify', case: 'hello', mean },
      { subject: 'official-adapter', case: 'hello', mean },
    ],
    ratios: [],
    claims: [{ ...pair, atLeast: 3, verdict: 'holds', estimates: [estimate] }],
  } as unknown as Omit<RaceResult, 'rounds'>,
})

const TRPC = 'tRPC over the official adapter and over a plain route'
const run = (changes: Partial<FinishedRun> = {}): FinishedRun => ({
  startedAt: Date.parse('2027-01-02T03:00:00Z'),
  command: 'npx -y pnpm@12 test:perf',
  races: [raceOf('headlines', TRPC)],
  tables: [],
  ...changes,
})
const results = readResults()

describe('the report of a run', () => {
  it('has the claim of each package with its interval, its verdict and the recorded figure', () => {
    const [headlines] = finalReport(run(), results)
    const packages = new Set(headlines!.rows.map(([name]) => name))
    expect([...packages]).toEqual([
      'trpc-fastify',
      'next-on-fastify',
      'aggregator-gateway',
      'clustered-server',
      'fastify-write-batching',
    ])
    const { ratio, low, high, run: name } = results.figures['trpc-hello']
    expect(headlines!.rows[0]).toEqual([
      'trpc-fastify',
      'hello: trpc-fastify over official-adapter',
      '4.5x (3.46 to 5.5)',
      '3x holds',
      `${ratio}x (${low} to ${high}), ${results.runs[name]!.date}`,
    ])
    expect(headlines!.rows.at(-1)!.slice(2, 4)).toEqual(['', ''])
  })

  it.each(['000', '001', '002', '003', '004'])('has the published figures of seed %s', (seed) => {
    const titles = finalReport(run(), results).map(({ title }) => title)
    expect(titles.filter((title) => title.includes(`seed ${seed}:`)).length).toBeGreaterThan(0)
  })

  it('has every published figure', () => {
    const text = finalText(run(), results, Infinity)
    const figures = [
      ...['0.87x', '2.90x', '4.14x', '5.63x', '0.80x', '2.31x', '0.85x', '0.83x'],
      ...['31.33', '67.46', '28.43', '54.46', '9.51', '16.28'],
      ...['105,283', '23,760', '20,381', '180 MB', '400 MB', '470 MB', '700'],
      ...['22,208', '33,067', '37,147', '17.03 ms', '11.03 ms', '9.75 ms'],
      ...['4,402', '11,936', '45.4 ms', '16.8 ms', '4.78 MB', '3.52 MB'],
    ]
    expect(figures.filter((figure) => !text.includes(figure))).toEqual([])
  })

  it('has each cell on a line of its own in a terminal that is narrower than a table', () => {
    const rows = stripVTControlCharacters(finalText(run(), results, 80))
      .split('\n')
      .filter((line) => line.startsWith(' '))
    expect(rows.slice(0, 3)).toEqual([
      ' trpc-fastify',
      '   claim                     hello: trpc-fastify over official-adapter',
      '   measured now (interval)   4.5x (3.46 to 5.5)',
    ])
    expect(rows.filter((line) => line.length > 80)).toEqual([])
  })

  it('has measured figures of a seed in place of those that were published alone', () => {
    const { source } = published.seed004
    const table: Comparison = { title: `Published then, measured now (${source})`, head: ['a'], rows: [], legend: [] }
    const races = [{ ...raceOf('http-frameworks', '004'), comparisons: [table] }]
    const found = finalReport(run({ races }), results).filter(({ title }) => title.includes(source))
    expect(found).toEqual([table])
  })

  it('has the tables of suites without races', () => {
    const table: Comparison = { title: 'The 10 hottest functions', head: ['function'], rows: [['f']], legend: [] }
    expect(finalReport(run({ tables: [table] }), results)).toContain(table)
  })

  it('has a table by version of Node after a run with several', () => {
    const races = ['22', '26'].map((node) => raceOf('nodes', `Node ${node}: tRPC`))
    expect(finalReport(run({ races }), results).at(-1)).toMatchObject({
      head: ['claim', 'Node 22', 'Node 26'],
      rows: [['tRPC', '4.50x (3.46 to 5.50)', '4.50x (3.46 to 5.50)']],
    })
  })

  it('says how to repeat it', () => {
    const text = finalMarkdown(run(), results)
    expect(text).toContain('## How to repeat this\n\nCommand: `npx -y pnpm@12 test:perf`')
    expect(text).toContain('Some CPU, 2 cores, Linux 6, Node v24.1.0, commit abc')
    expect(text).toContain('readme-figures/write.ts')
    expect(finalText(run({ races: [raceOf('nodes', 'Node 22: tRPC')] }), results, Infinity)).not.toContain('write.ts')
  })
})

it('compares the mean response time by the number of open requests', () => {
  const result = {
    load: { connections: 200, pipelining: 1 },
    rounds: [],
    summaries: ['nestjs-express', 'nestjs-fastify'].map((subject) => ({ subject, case: 'hello', mean })),
    ratios: ['cpu', 'throughput'].map((metric) => ({
      ...{ contender: 'nestjs-express', over: 'nestjs-fastify', case: 'hello', metric },
      ...{ ratio: 0.5, low: 0.4, high: 0.6, generatorBound: false },
    })),
  } as unknown as RaceResult
  const [, details] = comparisonsOf({ title: '004', result, published: published.seed004 })
  expect(details).toMatchObject({
    head: ['system', 'average then', 'now', 'transferred then', 'now'],
    rows: [
      ['nestjs-express', '45.4 ms', '10 ms', '4.78 MB', ''],
      ['nestjs-fastify', '16.8 ms', '10 ms', '3.52 MB', ''],
    ],
  })
})

describe('response times of seed 001', () => {
  const times: MeasuredTimes = {
    ...{ node: '22', subject: 'nestjs-fastify-undici', seconds: 7 },
    ...{ answers: 700, failures: 0, average: 5, p95: 9.876, p99: 12, p999: 20 },
  }
  const subjects = ['nestjs-fastify-undici', 'aggregator-gateway']

  it('have a row for each version of Node, and a column for each system', () => {
    expect(timesTable(['22', '26'], subjects, [times])).toMatchObject({
      head: ['Node', 'nestjs-fastify-undici then', 'now', 'aggregator-gateway then', 'now'],
      rows: [
        ['22', '10.74 / 16.90', '5.00 / 9.88', '', ''],
        ['26', '', '', '', ''],
      ],
    })
  })

  it('have a CSV file for each version of Node', () => {
    expect(timesCsv('22', subjects, [times]).split('\n')).toEqual([
      'system,average_then_ms,average_now_ms,p95_then_ms,p95_now_ms,p99_now_ms,requests_per_second_now,failures_now',
      'nestjs-fastify-undici,10.74,5,16.9,9.88,12,100,0',
      'aggregator-gateway,,,,,,,',
      '',
    ])
  })
})

it('finds the hottest functions of a profile, without its start and idle time', () => {
  const node = (id: number, functionName: string, url = '', lineNumber = 0): object => ({
    id,
    callFrame: { functionName, url, lineNumber },
  })
  const profile = {
    nodes: [
      node(1, '(idle)'),
      node(2, 'send', 'file:///app/node_modules/send/index.js', 9),
      node(3, '', 'node:net', 99),
      node(4, 'send', 'file:///app/node_modules/send/index.js', 9),
      node(5, 'rare'),
    ],
    startTime: 5000,
    samples: [5, 1, 2, 3, 4, 5],
    timeDeltas: [1000, 1000, 30, 35, 30, 5],
  } as Parameters<typeof hottestFunctions>[0]
  expect(hottestFunctions(profile, 2, 7000)).toEqual([
    { name: 'send', place: 'index.js:10', share: 0.6 },
    { name: '(anonymous)', place: 'node:net:100', share: 0.35 },
  ])
})

describe('test:perf:nodes', () => {
  const script = fileURLToPath(new URL('../perf/run-nodes.ts', import.meta.url))

  it.each([
    [['--scale', '0'], /^expected --scale with a number above 0 and up to 10: .*, got "0"\.\n$/],
    [['--scale', 'fast'], /got "fast"\.\n$/],
    [['--scal', '1'], /^Unknown option '--scal'/],
  ])('rejects %s with one line', (args, message) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })
    expect({ status, stdout, lines: stderr.split('\n').length }).toEqual({ status: 2, stdout: '', lines: 2 })
    expect(stderr).toMatch(message)
  })

  it('measures with the four versions of Node that it names', () => {
    expect(Object.keys(nodes)).toEqual(['20', '22', '24', '26'])
    for (const [version, program] of Object.entries(nodes)) {
      const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' })
      expect(stdout).toMatch(new RegExp(`^v${version}\\.`))
    }
  })
})
