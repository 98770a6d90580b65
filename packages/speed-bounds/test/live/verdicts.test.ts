import { expect, it } from 'vitest'
import '../../src/vitest.ts'
import { race } from '../../src/index.ts'
import { ok, SMALL, slow } from './servers.ts'

const OPTIONS = { ...SMALL, replicas: 3, cycles: 3 }

it('holds a claim that is true', async () => {
  await expect(race({ ok, slow }, OPTIONS)).toOutpace('slow', { atLeast: 1.5, metric: 'cpu' })
})

it('breaks a claim that is false, with evidence', async () => {
  const match = race({ slow, ok }, OPTIONS)
  await expect(match).not.toOutpace('ok', { atLeast: 1.5, metric: 'cpu' })
  await expect(expect(match).toOutpace('ok', { atLeast: 1.5, metric: 'cpu' })).rejects.toThrow(
    /slow is at least 1.5x ok \(GET \/\): broken\n {2}CPU per request: 0\.\d+x \(.*3\+3 processes/s,
  )
})

it('passes neither way while a claim is open', async () => {
  // One stage of two processes can't tell a server from itself to 1 %.
  const match = race({ ok, twin: ok }, { ...SMALL, stages: 1 })
  await expect(expect(match).toOutpace('twin', { atLeast: 1.0001 })).rejects.toThrow('inconclusive')
  await expect(expect(match).not.toOutpace('twin', { atLeast: 1.0001 })).rejects.toThrow('inconclusive')
})

it('decides several claims on the same data, and measures again only what is in question', async () => {
  const match = race({ ok, slow, twin: ok }, { ...OPTIONS, replicas: 3 })
  await match.measure()
  const measured = match.result().rounds.length
  expect(measured).toBe(3 * 3 * 3)
  await expect(match).toOutpace('slow', { atLeast: 1.2, metric: 'cpu' })
  await expect(match).toOutpace('slow', { contender: 'twin', atLeast: 1.2, metric: 'cpu' })
  expect(match.result().rounds).toHaveLength(measured)
  await match.decide('twin', { atLeast: 1.0001, budget: 1 })
  expect(match.result().claims.map(({ verdict }) => verdict)).toEqual(['holds', 'holds', 'inconclusive'])
})

it('never lets throughput hold that the generator limited', async () => {
  // Ten requests under way on each connection cost autocannon more than they cost this server.
  const match = race({ ok, slow }, { ...OPTIONS, pipelining: 10, stages: 1 })
  const judgement = await match.decide('slow', { atLeast: 1.01, metric: 'throughput' })
  const { bottleneck } = match.result().summaries.find(({ subject }) => subject === 'ok')!
  const [estimate] = judgement.estimates
  expect(estimate?.generatorBound).toBe(
    bottleneck.generator > 0.2 * (bottleneck.server + bottleneck.generator + bottleneck.latency),
  )
  if (estimate?.generatorBound) expect(judgement.verdict).toBe('inconclusive')
})

it('compares cases, p99 and memory too', async () => {
  const { path, ...options } = OPTIONS
  const match = race({ ok, slow }, { ...options, cases: { root: { path }, other: { path: '/other' } } })
  await expect(match).toOutpace('slow', { atLeast: 1.2, metric: 'p99', case: 'other' })
  const { summaries } = match.result()
  expect(summaries.map((summary) => [summary.case, summary.subject])).toEqual([
    ['root', 'ok'],
    ['root', 'slow'],
    ['other', 'ok'],
    ['other', 'slow'],
  ])
  for (const { mean } of summaries) {
    expect(mean.rss).toBeGreaterThan(20e6)
    expect(mean.peakRss).toBeGreaterThanOrEqual(mean.rss)
    expect(mean.p99).toBeGreaterThanOrEqual(mean.p50)
  }
})
