import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { RaceResult } from '../../src/index.ts'
import { ok, processesWith, scripts, server, slow } from '../helpers/servers.ts'

const cli = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const [fast, heavy] = [String(ok.file), String(slow.file)]
const SMALL = [
  ...['--replicas', '2', '--cycles', '2', '--duration', '100ms', '--max-warm-up', '100ms', '--metric', 'cpu'],
  // Other programs of the machine do not matter.
  ...['--max-foreign-cpu', '64'],
]

interface Outcome {
  code: number | null
  stdout: string
  stderr: string
}

function start(args: string[]): { runner: ReturnType<typeof spawn>; ended: Promise<Outcome> } {
  const runner = spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const outcome: Outcome = { code: null, stdout: '', stderr: '' }
  runner.stdout.on('data', (text: Buffer) => (outcome.stdout += text.toString()))
  runner.stderr.on('data', (text: Buffer) => (outcome.stderr += text.toString()))
  const ended = once(runner, 'close').then(([code]: (number | null)[]) => ({ ...outcome, code: code ?? null }))
  return { runner, ended }
}

const run = (...args: string[]): Promise<Outcome> => start(args).ended

it('exits with 0 when the claim holds, prints the table and writes the document', async () => {
  const json = join(tmpdir(), `speed-bounds-${process.pid}.json`)
  const markdown = json.replace('.json', '.md')
  const page = json.replace('.json', '.html')
  const table = json.replace('.json', '.csv')
  const files = ['--json', json, '--markdown', markdown, '--html', page, '--csv', table]
  const { code, stdout, stderr } = await run(
    'race',
    `fast=${fast}`,
    `slow=${heavy}`,
    '--at-least',
    '1.3',
    ...SMALL,
    ...files,
  )
  expect(stdout).toMatch(/fast is at least 1.3x slow \(GET \/\): holds/)
  expect(stdout).toMatch(/subject +CPU\/request +requests\/s/)
  expect(stderr).toMatch(/stage 1: measuring/)
  expect(code).toBe(0)
  const result = JSON.parse(readFileSync(json, 'utf8')) as RaceResult
  expect(result.claims.map(({ verdict }) => verdict)).toEqual(['holds'])
  expect(readFileSync(markdown, 'utf8')).toContain('| fast at least 1.3x slow')
  expect(readFileSync(page, 'utf8')).toContain('<h4>Latency by percentile</h4>')
  const { stdout: csv } = await run('report', json, '--format', 'csv')
  expect(csv.trimEnd().split('\n')).toHaveLength(result.rounds.length + 1)
  expect(readFileSync(table, 'utf8')).toBe(csv)
  expect(result.rounds.map(({ at }) => at!)).toEqual(result.rounds.map(({ at }) => at!).toSorted((a, b) => a - b))
})

it('exits with 1 when the claim is broken', async () => {
  const { code, stdout } = await run('race', `slow=${heavy}`, `fast=${fast}`, '--at-least', '1.3', ...SMALL)
  expect(stdout).toMatch(/slow is at least 1.3x fast \(GET \/\): broken/)
  expect(code).toBe(1)
})

it('exits with 3 when the claim is inconclusive, with advice', async () => {
  const { code, stdout } = await run(
    'race',
    `a=${fast}`,
    `b=${fast}`,
    '--at-least',
    '1.0001',
    '--budget',
    '100ms',
    ...SMALL,
  )
  expect(stdout).toMatch(/inconclusive/)
  expect(stdout).toMatch(/^The budget of 100 ms ended before there was an interval: raise it\.$/m)
  expect(code).toBe(3)
})

it.each<[usage: string, args: string[], message: RegExp]>([
  ['a single subject', ['race', fast], /at least 2 subjects/],
  ['two subjects of the same name', ['race', fast, fast], /different names/],
  ['a file that does not exist', ['race', fast, 'no-such-file.ts'], /file that exists or a command line/],
  ['a bound that is no number', ['race', fast, heavy, '--at-least', 'much'], /Expected a number above 0/],
  ['an unknown metric', ['race', fast, heavy, '--metric', 'speed'], /Allowed choices are cpu, throughput, p99, rss/],
  ['a relative path', ['race', fast, heavy, '--path', 'x'], /path that starts with "\/"/],
  ['a high alpha', ['race', fast, heavy, '--alpha', '0.5'], /at most 0.2/],
  [
    'a time without a unit',
    ['race', fast, heavy, '--budget', '60'],
    /^error: option '--budget <time>' .*Expected a time with its unit, such as 60s or 200ms\. See speed-bounds race --help\.\n$/,
  ],
  ['an old flag', ['race', fast, heavy, '--warm-up', '2s'], /unknown option '--warm-up'/],
  [
    'an unknown format',
    ['report', 'x.json', '--format', 'pdf'],
    /Allowed choices are text, html, markdown, csv, github-action/,
  ],
  [
    'a missing argument',
    ['compare'],
    /^error: missing required argument 'base'\. See speed-bounds compare --help\.\n$/,
  ],
  [
    'an unknown command',
    ['rase'],
    /^error: unknown command 'rase' \(Did you mean race\?\)\. See speed-bounds --help\.\n$/,
  ],
])('exits with 2 and one line for %s', async (_, args, message) => {
  const { code, stderr, stdout } = await run(...args)
  expect(stderr).toMatch(message)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(stdout).toBe('')
  expect(code).toBe(2)
})

it('exits with 2 and prints its usage without a command', async () => {
  const { code, stderr, stdout } = await run()
  expect(stderr).toMatch(/Usage: speed-bounds/)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
})

it('prints the same advice of several claims once', async () => {
  const { code, stdout } = await run('race', fast, heavy, `third=${heavy}`, ...SMALL, '--budget', '1ms')
  expect(stdout.match(/The budget of .* ended before there was an interval: raise it\./g)).toHaveLength(1)
  expect(stdout.match(/: inconclusive$/gm)).toHaveLength(2)
  expect(code).toBe(3)
})

it('exits with 4 when the race fails, with the code of the error', async () => {
  const other = server(`response.end('no')`)
  const { code, stderr } = await run('race', fast, `other=${String(other.file)}`, ...SMALL)
  expect(stderr).toMatch(/SPEED_BOUNDS_WRONG_RESPONSE: other responds differently to case 'GET \/'/)
  expect(code).toBe(4)
})

it('exits with 2 for a result that is damaged', async () => {
  const file = join(tmpdir(), `speed-bounds-damaged-${process.pid}.json`)
  writeFileSync(file, '{ "version": 2, "rounds": [], "summaries": [{}], "claims": [] }')
  for (const format of ['text', 'html', 'markdown', 'github-action-benchmark', 'bencher']) {
    const { code, stderr } = await run('report', file, '--format', format)
    expect(stderr).toMatch(/^SPEED_BOUNDS_INVALID_RESULT: .* is damaged: .*\n$/)
    expect(code).toBe(2)
  }
  rmSync(file)
})

it('races command lines, and replaces {port}', async () => {
  const command = `env PORT={port} HOST={host} ${process.execPath} ${fast}`
  const { code, stdout } = await run('race', `go=${command}`, `slow=${heavy}`, '--at-least', '1.3', ...SMALL)
  expect(stdout).toMatch(/go is at least 1.3x slow/)
  expect(code).toBe(0)
})

it('self-check races a server against itself', async () => {
  const { code, stdout } = await run('self-check', '--tries', '2', '--budget', '20s', ...SMALL)
  expect(stdout).toMatch(/2 races of a server against itself/)
  expect(stdout).toMatch(/false positives \(an interval that misses 1\): \d of 2/)
  for (const time of [10, 30, 60]) {
    expect(stdout).toMatch(
      new RegExp(
        String.raw`smallest effect found in 80 % of races of ${time} s: (\d+\.\d %|none below 1000 %|not enough data)`,
      ),
    )
  }
  expect(stdout).toMatch(/neighbors: \d+\.\d\d cores taken by other programs, \d+\.\d % of rounds above the limit/)
  expect([0, 1]).toContain(code)
})

it.skipIf(process.platform === 'win32')('ends all subjects and exits with 130 on Ctrl-C', async () => {
  const { runner, ended } = start([
    'race',
    `a=${fast}`,
    `b=${heavy}`,
    '--replicas',
    '2',
    '--cycles',
    '1000',
    '--max-warm-up',
    '100ms',
  ])
  runner.stderr!.on('data', (text: Buffer) => {
    if (text.includes('measuring')) runner.kill('SIGINT')
  })
  expect((await ended).code).toBe(130)
  for (let tries = 0; tries < 100 && processesWith(scripts).length > 0; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  expect(processesWith(scripts)).toEqual([])
})

describe('with a configuration file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'speed-bounds-run-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const config = join(folder, 'speed-bounds.config.json')
  const write = (claims: object[]): void =>
    writeFileSync(
      config,
      JSON.stringify({
        subjects: { fast, slow: heavy },
        ...{ path: '/', replicas: 2, duration: 100, claims },
        measurement: { cycles: 2, maxWarmUp: 100, maxForeignCpu: 64 },
      }),
    )

  it('run decides its claims, and report prints the same tables from the document', async () => {
    write([
      { over: 'slow', atLeast: 1.3, metric: 'cpu' },
      { over: 'fast', contender: 'slow', atLeast: 1, metric: 'cpu' },
    ])
    const json = join(folder, 'result.json')
    const { code, stdout } = await run('run', '--config', config, '--json', json)
    expect(stdout).toContain('fast is at least 1.3x slow (GET /): holds')
    expect(stdout).toContain('slow is at least 1x fast (GET /): broken')
    expect(code).toBe(1)
    const markdown = join(folder, 'result.md')
    const report = await run('report', json, '--markdown', markdown)
    expect(report).toMatchObject({ code: 0, stdout })
    expect(readFileSync(markdown, 'utf8')).toContain('| fast at least 1.3x slow')
  })

  it('run rejects an invalid claim before it starts a server', async () => {
    write([
      { over: 'slow', atLeast: 1.3 },
      { over: 'nobody', atLeast: 1 },
    ])
    const { code, stderr } = await run('run', '--config', config)
    expect(stderr).toBe(
      'SPEED_BOUNDS_INVALID_OPTION: Invalid option "claims[1].over": expected one of slow, got "nobody".\n',
    )
    expect(code).toBe(2)
  })
})
