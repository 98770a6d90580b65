import { foundProgram } from '@test/required-program'
import { readdirSync, readFileSync } from 'node:fs'
import type { RaceOptions, RaceResult } from 'speed-bounds'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endSubjects } from '../running-subjects.ts'
import { cases, startUpstreams, subjects } from '../suites/gateway.ts'
import { type Bound, bounds } from './bounds.ts'
import { withMeasurement } from './race-options.ts'
import { perfSuite, type SuiteRace } from './suite.ts'
import { constantly, userLoad } from './user-load.ts'

const { small, medium, large } = cases
const {
  'nestjs-express-axios': nestExpress,
  'aggregator-gateway': ours,
  'aggregator-gateway-bare': bare,
  'aggregator-gateway-coalesced': coalesced,
  'fastify-undici': byHand,
  'nestjs-fastify-undici': nestUndici,
  ...others
} = subjects

const load: RaceOptions = {
  duration: 400,
  measurement: {
    // The heap of NestJS is large.
    heats: 'successive',
    // In 0.5 s windows, CPU per request falls until 4 to 6 s after the start.
    minWarmUp: 3000,
    maxWarmUp: 6000,
    cycles: 6,
    // The upstreams are foreign CPU of up to a core.
    maxForeignCpu: 1.5,
  },
}

/** Axios lets 100 clients wait for 0.4 s and more. Rounds of a second had no response at all. */
const longLoad = withMeasurement({ turn: 500, cycles: 2 }, { ...load, duration: 2000 })

type BoundsByLoad = 'gateway-nest-axios' | 'gateway-nest-undici' | 'gateway-coalesced'

/** With 50 connections the peers cost less per response, see docs/measurements.md#gateway-nest-axios-50. */
const boundsWith = (connections: 50 | 100, key: BoundsByLoad): readonly Bound[] =>
  bounds[connections === 50 ? (`${key}-50` as const) : key]

let upstreams: Awaited<ReturnType<typeof startUpstreams>>
beforeAll(async () => {
  upstreams = await startUpstreams()
})
afterAll(endSubjects)

perfSuite('gateway', [
  ...([100, 50] as const).flatMap((connections): SuiteRace[] => [
    {
      title: `${connections} connections, by hand`,
      subjects: { 'aggregator-gateway': ours, 'fastify-undici': byHand },
      options: { ...load, cases: { small }, connections },
      bounds: bounds['gateway'],
    },
    {
      title: `${connections} connections, protections on and off`,
      subjects: { 'aggregator-gateway': ours, 'aggregator-gateway-bare': bare },
      // A ratio that is a few percent above its bound takes dozens of processes of each.
      options: { ...load, replicas: 10, cases: { small }, connections },
      bounds: bounds['gateway-protections'],
    },
    {
      title: `${connections} connections, NestJS on Express with axios`,
      subjects: { 'aggregator-gateway': ours, 'nestjs-express-axios': nestExpress },
      options: { ...longLoad, cases: { small }, connections },
      bounds: boundsWith(connections, 'gateway-nest-axios'),
    },
    {
      title: `${connections} connections, NestJS on Fastify with undici`,
      subjects: { 'aggregator-gateway': ours, 'nestjs-fastify-undici': nestUndici },
      options: { ...load, cases: { small }, connections },
      bounds: boundsWith(connections, 'gateway-nest-undici'),
    },
    {
      title: `${connections} connections, bodies of 2 kB and 20 kB`,
      subjects: { 'aggregator-gateway': ours, 'fastify-undici': byHand },
      options: { ...load, cases: { medium, large }, connections },
      bounds: bounds['gateway-bodies'],
    },
    {
      // autocannon needs a whole core to read 66,000 responses per second.
      title: `${connections} connections, identical requests`,
      subjects: { 'aggregator-gateway-coalesced': coalesced, 'nestjs-express-axios': nestExpress },
      options: { ...longLoad, ...(foundProgram('wrk') && { generator: 'wrk' }), cases: { small }, connections },
      bounds: boundsWith(connections, 'gateway-coalesced'),
    },
  ]),
  {
    title: 'other servers',
    subjects: { 'aggregator-gateway': ours, ...others },
    options: { ...longLoad, cases: { small }, connections: 100, replicas: 2 },
  },
])

/** Upstream calls per response. Coalesced requests need fewer. */
const CALLS = 5

/** Upstreams that had work for a greater share of the time could have delayed a gateway. */
const BUSY = 0.8

// Runs after the races, and reads their results.
it('the upstreams had time left, whichever gateway asked', async ({ annotate }) => {
  const capacity = await upstreamCapacity(small.path.replace('/api', '/profile'))
  const { subject, mean } = summariesOfSmall().reduce((best, summary) =>
    summary.mean.throughput > best.mean.throughput ? summary : best,
  )
  const calls = CALLS * mean.throughput
  const [asked, possible] = [calls, capacity].map((count) => Math.round(count).toLocaleString('en'))
  await annotate(`${subject} asked ${asked} times a second, a core answers ${possible} times`, 'evidence')
  expect(calls / capacity).toBeLessThan(BUSY)
})

/** Summaries of the gateways that make all calls, from all races. */
function summariesOfSmall(): RaceResult['summaries'] {
  const folder = new URL('../../results/gateway/', import.meta.url)
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) => (JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as RaceResult).summaries)
    .filter(({ case: kase, subject }) => kase === 'small' && subject !== 'aggregator-gateway-coalesced')
}

/** Calls that the upstreams serve in a second of CPU. They have one thread. */
async function upstreamCapacity(path: string): Promise<number> {
  const url = upstreams.origin + path
  await userLoad(url, constantly(64, 1000))
  const before = await upstreams.usage()
  await userLoad(url, constantly(64, 2000))
  const after = await upstreams.usage()
  return (after.calls.part - before.calls.part) / ((after.cpu - before.cpu) / 1e6)
}
