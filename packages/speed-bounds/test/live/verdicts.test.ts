import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import '../../src/vitest.ts'
import { type Progress, race, toTerminal } from '../../src/index.ts'
import { MEASUREMENT, ok, processesWith, script, server, slow, muchSlower, SMALL, spin } from '../helpers/servers.ts'

const OPTIONS = { ...SMALL, replicas: 3, measurement: { ...MEASUREMENT, cycles: 3 } }

it('toOutpace passes for a true claim', async () => {
  await expect(race({ ok, slow }, OPTIONS)).toOutpace('slow', { atLeast: 1.5, metric: 'cpu' })
})

it('toOutpace fails for a false claim, with evidence', async () => {
  const match = race({ slow, ok }, OPTIONS)
  await expect(match).not.toOutpace('ok', { atLeast: 1.5, metric: 'cpu' })
  await expect(expect(match).toOutpace('ok', { atLeast: 1.5, metric: 'cpu' })).rejects.toThrow(
    /^expected slow to be at least 1.5x ok \(GET \/\), but the claim is broken\n {2}CPU per request: 0\.\d+x \(.*(\d)\+\1 processes/s,
  )
})

it('toOutpace fails both ways for an inconclusive claim', async () => {
  // One stage of two processes can't tell a server from itself to 1 %.
  const match = race({ ok, twin: ok }, { ...SMALL, measurement: { ...MEASUREMENT, stages: 1 } })
  await expect(expect(match).toOutpace('twin', { atLeast: 1.0001 })).rejects.toThrow('inconclusive')
  await expect(expect(match).not.toOutpace('twin', { atLeast: 1.0001 })).rejects.toThrow('inconclusive')
})

it('warms subjects alternately, and measures them first in that order', async () => {
  const seen: Record<string, string[]> = { warming: [], measuring: [] }
  const match = race(
    { ok, twin: ok },
    {
      ...SMALL,
      replicas: 3,
      measurement: { ...MEASUREMENT, cycles: 2 },
      onProgress: ({ phase, subject }) => seen[phase]?.push(subject),
    },
  )
  await match.measure()
  const { warming = [], measuring = [] } = seen
  expect(measuring).toHaveLength(12)
  expect(warming).toEqual(measuring.slice(0, 6))
  for (const block of [0, 2, 4]) expect(warming.slice(block, block + 2).toSorted()).toEqual(['ok', 'twin'])
})

it.skipIf(process.platform !== 'linux')('successive heats have one process of each subject at a time', async () => {
  const seen: [phase: string, subject: string][] = []
  const measurement = { ...MEASUREMENT, cycles: 2, heats: 'successive' } as const
  const options = { ...SMALL, replicas: 3, measurement }
  const alive: number[] = []
  const match = race(
    { ok, twin: ok },
    {
      ...options,
      onProgress({ phase, subject }) {
        seen.push([phase, subject])
        if (phase === 'measuring') alive.push(processesWith(String(ok.file)).length)
      },
    },
  )
  const { rounds, method } = await match.measure()
  expect(method.heats).toBe('successive')
  expect(rounds).toHaveLength(12)
  // In each heat, both start, are compared and warmed, and then measured.
  const phases = seen.map(([phase]) => phase)
  const heat = ['starting', 'comparing', 'warming'].flatMap((phase) => [phase, phase])
  expect(phases).toEqual([1, 2, 3].flatMap(() => [...heat, ...Array.from({ length: 4 }, () => 'measuring')]))
  expect(new Set(alive)).toEqual(new Set([2]))
  // The same two meet in each cycle, and no others.
  const pairs = new Set(rounds.map(({ heat: number, replica }) => `${number}: ${replica}`))
  expect([...pairs].toSorted()).toEqual(['1: 1', '2: 2', '3: 3'])
  const { verdict, estimates } = await race(
    { ok, muchSlower },
    { ...options, measurement: { ...measurement, stages: 1 } },
  ).decide('muchSlower', {
    atLeast: 1.2,
    metric: 'cpu',
  })
  expect(estimates).toMatchObject([{ replicas: [3, 3] }])
  expect(verdict).toBe('holds')
})

describe.skipIf(process.platform !== 'linux')('while one subject is measured, the processes of the others', () => {
  const family = server(
    `response.end('ok')`,
    `if (!process.argv[2]) {
  const { spawn } = await import('node:child_process')
  spawn(process.execPath, [process.argv[1], 'child'], { env: { ...process.env, PORT: '0' }, stdio: 'ignore' })
}`,
  )
  const states = (): string[] =>
    processesWith(String(family.file)).map((pid) => {
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
      return text[text.lastIndexOf(')') + 2]!
    })

  it.each([
    ['are stopped', 'paused', 6],
    ['keep running with idle: running', 'running', 0],
  ] as const)('%s', async (_, idle, paused) => {
    const stopped: number[] = []
    const match = race(
      { family, twin: family },
      {
        ...SMALL,
        measurement: { ...MEASUREMENT, idle, turn: 1000 },
        duration: 1000,
        onProgress: ({ phase }) => {
          if (phase !== 'measuring') return
          // In the middle of the round, or of its lead.
          setTimeout(() => stopped.push(states().filter((state) => state === 'T').length), 400)
        },
      },
    )
    const { rounds } = await match.measure()
    expect(rounds).toHaveLength(4)
    expect(stopped).toEqual([paused, paused, paused, paused])
    expect(states()).toEqual([])
  })
})

it('decides several claims on the same data, and measures only the subjects of an open claim', async () => {
  // So slow, and with so many processes, that the first look decides on any machine.
  const slowest = server(`${spin(500)} response.end('ok')`)
  const match = race({ ok, slow: slowest, twin: ok }, { ...OPTIONS, replicas: 5 })
  await match.measure()
  const measured = match.result().rounds.length
  expect(measured).toBe(3 * 5 * 3)
  await expect(match).toOutpace('slow', { atLeast: 0.5, metric: 'cpu' })
  await expect(match).toOutpace('slow', { contender: 'twin', atLeast: 0.5, metric: 'cpu' })
  expect(match.result().rounds).toHaveLength(measured)
  await match.decide('twin', { atLeast: 1.0001, budget: 1 })
  expect(match.result().claims.map(({ verdict }) => verdict)).toEqual(['holds', 'holds', 'inconclusive'])
})

it('decides a later claim on the rounds of a first look that has decided another one', async ({ skip }) => {
  const match = race(
    { ok, muchSlower },
    { ...OPTIONS, duration: 400, measurement: { ...OPTIONS.measurement, turn: 400 } },
  )
  await match.decide('muchSlower', { atLeast: 1.5, metric: 'cpu' })
  const measured = match.result().rounds.length
  skip(measured > 2 * 2 * 2, 'The machine is too busy for a first look.')
  const { verdict } = await match.decide('muchSlower', { atLeast: 1.2, metric: 'cpu' })
  expect([verdict, match.result().rounds.length]).toEqual(['holds', measured])
})

it('ends at its budget, and tells how much time is missing', async () => {
  const stubborn = server(`response.end('ok')`, `process.on('SIGTERM', () => {})`)
  const remaining: number[] = []
  const match = race(
    { ok, stubborn },
    {
      ...OPTIONS,
      measurement: { minWarmUp: 30_000, maxWarmUp: 30_000 },
      onProgress: (progress) => remaining.push(progress.remaining),
    },
  )
  const began = performance.now()
  const { verdict, estimates, missing } = await match.decide('stubborn', { atLeast: 1, budget: 3000 })
  expect(performance.now() - began).toBeLessThan(5000)
  expect({ verdict, estimates }).toEqual({ verdict: 'inconclusive', estimates: [] })
  expect(remaining).not.toEqual([])
  expect(Math.max(...remaining)).toBeLessThanOrEqual(3000)
  expect(missing).toBeGreaterThan(100_000)
  expect(toTerminal(match.result())).toMatch(/not enough data yet \(needs about 1\d\d s more\)/)
})

it('begins with two processes of each server, and starts the others after two rounds of those', async () => {
  const phases: string[] = []
  const onProgress = ({ phase }: Progress): void => void (phases.at(-1) !== phase && phases.push(phase))
  const started: number[] = []
  const match = race(
    { ok, twin: ok },
    {
      ...OPTIONS,
      measurement: { ...OPTIONS.measurement, stages: 1 },
      onProgress(progress) {
        if (progress.phase === 'measuring' && phases.at(-1) !== 'measuring')
          started.push(processesWith(String(ok.file)).length)
        onProgress(progress)
      },
    },
  )
  await match.decide('twin', { atLeast: 1.0001, metric: 'cpu', budget: 120_000 })
  expect(started.slice(0, 2)).toEqual([4, 6])
  const first = match.result().rounds.filter(({ stage, cycle }) => stage === 1 && cycle <= 2)
  expect(first.map(({ replica }) => replica).toSorted((a, b) => a - b)).toEqual([1, 1, 1, 1, 2, 2, 2, 2])
})

it('ignores throughput that the generator limited, and lets CPU decide', async () => {
  // Not an HTTP server: each packet is one request, and autocannon has many headers to read.
  const raw = script(`
import { createServer } from 'node:net'
const response = 'HTTP/1.1 200 OK\\r\\n' + 'x: y\\r\\n'.repeat(100) + 'content-length: 2\\r\\n\\r\\nok'
createServer((socket) => socket.on('error', () => {}).on('data', () => socket.write(response)))
  .listen(process.env.PORT, process.env.HOST)
process.on('SIGTERM', () => process.exit(0))`)
  // So slow, and with so many processes, that one stage decides on a busy machine too.
  const options = { ...OPTIONS, replicas: 6, measurement: { ...OPTIONS.measurement, stages: 1 } }
  const match = race({ raw, slow: muchSlower }, options)
  const alone = await match.decide('slow', { atLeast: 1.01, metric: 'throughput' })
  expect(alone.estimates[0]).toMatchObject({ metric: 'throughput', generatorBound: true })
  expect(alone.estimates[0]!.low).toBeGreaterThan(1.01)
  expect(alone.verdict).toBe('inconclusive')
  const both = await match.decide('slow', { atLeast: 1.01 })
  expect(both.estimates.map(({ metric, generatorBound }) => [metric, generatorBound])).toContainEqual([
    'throughput',
    true,
  ])
  expect(both.verdict).toBe('holds')
})

it('decides claims on a case, p99 and memory', async () => {
  // Every 20th response is late, and 200 MB stay allocated.
  const late = server(
    `if (requests % 20 === 0) setTimeout(() => response.end('ok'), 60); else response.end('ok')`,
    `globalThis.ballast = Buffer.alloc(200e6, 1)`,
  )
  const { path, ...options } = { ...SMALL, replicas: 3 }
  const match = race({ ok, late }, { ...options, cases: { root: { path }, other: { path: '/other' } } })
  await match.measure()
  for (const metric of ['p99', 'rss', 'peakRss'] as const) {
    const { estimates } = await match.decide('late', { atLeast: 1.01, metric, case: 'other', budget: 1 })
    expect(estimates).toMatchObject([{ metric, replicas: [3, 3] }])
    expect(estimates[0]!.ratio).toBeGreaterThan(2)
  }
  const { summaries } = match.result()
  expect(summaries.map((summary) => [summary.case, summary.subject])).toEqual([
    ['root', 'ok'],
    ['root', 'late'],
    ['other', 'ok'],
    ['other', 'late'],
  ])
  for (const { mean } of summaries) {
    expect(mean.rss).toBeGreaterThan(20e6)
    expect(mean.peakRss).toBeGreaterThanOrEqual(mean.rss)
    expect(mean.p99).toBeGreaterThanOrEqual(mean.p50)
  }
})

it('discards rounds in which another program takes a core', async () => {
  const burner = spawn(process.execPath, ['-e', 'for (const end = Date.now() + 20_000; Date.now() < end; );'])
  try {
    const { rounds, discarded } = await race(
      { ok, slow },
      { ...SMALL, measurement: { ...MEASUREMENT, maxForeignCpu: 0.4 } },
    ).measure()
    expect(discarded['foreign-cpu']).toBeGreaterThan(rounds.length / 2)
    expect(rounds.filter((round) => round.discarded).every(({ foreignCpu }) => foreignCpu > 0.4)).toBe(true)
  } finally {
    burner.kill('SIGKILL')
  }
})

it('sends a fixed amount of requests, with method, headers and body', async () => {
  const post = server(`
    let body = ''
    request.on('data', (chunk) => (body += chunk)).on('end', () => {
      response.statusCode = request.method === 'POST' && request.headers['x-word'] === 'a' && body === '{"a":1}' ? 201 : 400
      response.end('done')
    })`)
  const { rounds } = await race(
    { post, twin: post },
    { ...SMALL, amount: 2000, method: 'POST', headers: { 'x-word': 'a' }, body: '{"a":1}', expect: { status: 201 } },
  ).measure()
  expect(rounds.map(({ responses }) => responses)).toEqual(rounds.map(() => 2000))
})
