import { afterAll, it } from 'vitest'
import { cases, subjects, wattCluster } from '../suites/clustered-server.ts'
import { WATT_INSTALL } from '../suites/watt.ts'
import type { RaceOptions } from 'speed-bounds'
import { bounds } from './bounds.ts'
import { wholeRounds, withMeasurement } from './race-options.ts'
import { perfSuite } from './suite.ts'

const { hello, shortConnection, primes } = cases
const { 'single-process': single, 'node-cluster': roundRobin, clustered } = subjects

const load: RaceOptions = {
  // Each of two workers gets half of the requests, and is optimized half as soon.
  measurement: { heats: 'successive', minWarmUp: 2500, maxWarmUp: 5000, cycles: 6 },
}

const watt = await wattCluster()

it('Watt takes part', ({ skip }) => {
  if (watt === undefined) skip(WATT_INSTALL)
})

perfSuite('clustered-server', [
  {
    // A response costs the generator a hundredth of its cost for the server, so both cores are the server's.
    title: 'milliseconds of work',
    subjects: { 'single-process': single, clustered },
    options: withMeasurement({ cycles: 3 }, wholeRounds(1000, { ...load, cases: { primes }, connections: 16 })),
    bounds: bounds['clustered-server-work'],
  },
  {
    // The generator has its share of the two cores. CPU shows the cost of a cluster, throughput does not show its gain.
    title: 'connections that stay',
    subjects: { 'single-process': single, clustered },
    // All workers have their one major garbage collection in the same round, which costs a third more. Of three rounds
    // it is too large a part. Nine processes, because those of one subject differ.
    options: withMeasurement({ cycles: 10 }, { ...load, cases: { hello }, replicas: 9 }),
    bounds: bounds['clustered-server-overhead'],
  },
  {
    // With this many connections no process waits for work. With fewer, two workers wait more often than one process.
    title: 'many connections that stay',
    subjects: { 'single-process': single, clustered },
    options: { ...load, cases: { hello }, connections: 200 },
    bounds: bounds['clustered-server-many'],
  },
  {
    title: 'a connection for each request',
    subjects: { clustered, 'node-cluster': roundRobin },
    options: { ...load, cases: { shortConnection } },
    bounds: bounds['clustered-server-short'],
  },
  {
    title: 'all of them',
    subjects: { ...subjects, ...(watt && { watt: watt.subject }) },
    // One process takes 0.3 s for 50 responses with primes, and every response must fit into a round.
    options: withMeasurement({ cycles: 1 }, wholeRounds(2000, { ...load, cases, replicas: 2 })),
  },
])

afterAll(() => watt?.remove())
