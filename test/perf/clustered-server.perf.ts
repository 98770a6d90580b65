import { afterAll, it } from 'vitest'
import { cases, subjects, wattCluster } from '../suites/clustered-server.ts'
import { WATT_INSTALL } from '../suites/watt.ts'
import { bounds } from './bounds.ts'
import { perfSuite, wholeRounds } from './suite.ts'

const { hello, shortConnection, primes } = cases
const { 'single-process': single, 'node-cluster': roundRobin, clustered } = subjects

const load = {
  // Each of two workers has half of the requests, and is optimised half as soon.
  leastWarmUp: 2500,
  warmUp: 5000,
  duration: 800,
  cycles: 3,
}

const watt = await wattCluster()

it('Watt takes part', ({ skip }) => {
  if (watt === undefined) skip(WATT_INSTALL)
})

perfSuite('clustered-server', [
  {
    // With 4 ms of work for each response, the generator needs 1 % of the CPU, and the server has both cores.
    title: 'milliseconds of work',
    subjects: { 'single-process': single, clustered },
    options: { ...load, cases: { primes }, connections: 16, ...wholeRounds(1000) },
    bounds: bounds['clustered-server-work'],
  },
  {
    // The generator uses part of the two cores. CPU shows the cost of a cluster; throughput would not show its gain.
    title: 'connections that stay',
    subjects: { 'single-process': single, clustered },
    // All workers have their one major garbage collection in the same visit, after as many requests, and it was their
    // dearest by a third: of three visits it is too large a part. Nine processes, as those of one subject differ.
    options: { ...load, cases: { hello }, cycles: 5, replicas: 9 },
    bounds: bounds['clustered-server-overhead'],
  },
  {
    // With 200 connections no process waits for work. With fewer, each of two waits more often than one alone.
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
    // One process takes 0.3 s for 50 responses with primes, and each response must fit into a round.
    options: { ...load, cases, ...wholeRounds(2000), replicas: 2, cycles: 1 },
  },
])

afterAll(() => watt?.remove())
