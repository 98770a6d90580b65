import { afterAll, it } from 'vitest'
import { cases, subjects, wattCluster } from '../suites/clustered-server.ts'
import { WATT_INSTALL } from '../suites/watt.ts'
import { bounds } from './bounds.ts'
import { wholeRounds, withMeasurement } from './race-options.ts'
import { perfSuite } from './suite.ts'

const { hello, shortConnection, primes } = cases
const { 'single-process': single, 'node-cluster': roundRobin, clustered } = subjects

const load = {
  // Each of two workers has half of the requests, and is optimised half as soon.
  measurement: { minWarmUp: 2500, maxWarmUp: 5000, cycles: 3 },
  duration: 800,
}

const watt = await wattCluster()

it('Watt takes part', ({ skip }) => {
  if (watt === undefined) skip(WATT_INSTALL)
})

perfSuite('clustered-server', [
  {
    // What an answer costs the generator is a hundredth of what it costs the server: both cores are the server's.
    title: 'milliseconds of work',
    subjects: { 'single-process': single, clustered },
    options: wholeRounds(1000, { ...load, cases: { primes }, connections: 16 }),
    bounds: bounds['clustered-server-work'],
  },
  {
    // The generator has its share of the two cores: what a cluster costs is seen by CPU, and what it gains is not.
    title: 'connections that stay',
    subjects: { 'single-process': single, clustered },
    // All workers have their one major garbage collection in the same visit, after as many requests, and it was their
    // dearest by a third: of three visits it is too large a part. Nine processes, as those of one subject differ.
    options: withMeasurement({ cycles: 5 }, { ...load, cases: { hello }, replicas: 9 }),
    bounds: bounds['clustered-server-overhead'],
  },
  {
    // With these no process waits for work, as with less than that each of two does more often than one alone.
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
    // One process takes 0.3 s for 50 answers with primes, and every answer must fit into a round.
    options: withMeasurement({ cycles: 1 }, wholeRounds(2000, { ...load, cases, replicas: 2 })),
  },
])

afterAll(() => watt?.remove())
