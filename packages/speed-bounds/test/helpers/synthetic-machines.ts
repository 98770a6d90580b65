// Machines of synthetic races, as observed.

import type { Claim } from '../../src/options/resolved.ts'
import type { Chance, Machine } from './synthetic-race.ts'

/** That `a` is so many times as good as `b`. */
export const claim = (atLeast: number): Claim => ({
  contender: 'a',
  over: 'b',
  atLeast,
  case: 'GET /',
  metrics: ['cpu', 'throughput'],
  alpha: 0.01,
  budget: 60_000,
})

/** Now and then a round costs far more: another tenant, a long garbage collection. */
const roundWithOutliers = (chance: Chance): number =>
  0.05 * chance.normal() + (chance.uniform() < 0.08 ? 0.4 * chance.uniform() : 0)

/** A third of the time a core is slower, by a half as a rule. */
function slowCore(chance: Chance): number {
  return chance.uniform() < 0.33 ? 0.4 + 0.2 * chance.normal() : 0
}

/** Observations on a shared machine with two cores. The figures are logs of factors. */
export const machines = {
  'processes that differ by 2 %': {
    process: (chance) => 0.02 * chance.normal(),
    round: roundWithOutliers,
    cycle: (chance) => 0.1 * chance.normal(),
  },
  'identical processes on a quiet machine': {
    process: () => 0,
    round: (chance) => 0.002 * chance.normal(),
    cycle: () => 0,
  },
  // Fastify 5 on Node 24: half of the processes need 10.1 µs a request and half 12.4, for as long as they live.
  'processes in two modes 22 % apart': {
    process: (chance) => (chance.uniform() < 0.5 ? 0 : Math.log(1.22)) + 0.01 * chance.normal(),
    round: roundWithOutliers,
    cycle: (chance) => 0.1 * chance.normal(),
  },
  'one process in ten 50 % slower': {
    process: (chance) => (chance.uniform() < 0.1 ? Math.log(1.5) : 0) + 0.02 * chance.normal(),
    round: roundWithOutliers,
    cycle: (chance) => 0.2 * chance.normal(),
  },
  // Neighbors of a virtual machine come and go. The noise of a single process is smaller.
  'cores that are slower for a while': {
    process: (chance) => 0.03 * chance.normal(),
    round: (chance) => 0.05 * chance.normal(),
    cycle: (chance) => 0.05 * chance.normal(),
    heat: slowCore,
  },
  'such cores, and processes in two modes': {
    process: (chance) => (chance.uniform() < 0.5 ? 0 : Math.log(1.22)) + 0.01 * chance.normal(),
    round: roundWithOutliers,
    cycle: (chance) => 0.05 * chance.normal(),
    heat: slowCore,
  },
  'such cores, and processes that are all alike': {
    process: () => 0,
    round: (chance) => 0.05 * chance.normal(),
    cycle: () => 0,
    heat: slowCore,
  },
  // Plain Fastify took 24 to 60 µs for a request, the official adapter of tRPC 165 to 390; those of a heat rose and fell together.
  'cores that are never the same': {
    process: (chance) => 0.02 * chance.normal(),
    round: (chance) => 0.14 * chance.normal(),
    cycle: () => 0,
    heat: (chance) => 0.22 * chance.normal(),
  },
  // With eleven runnable programs on two cores, costs of rounds spread by 15 %, and now and then one got hardly any time.
  'two cores that many programs share': {
    process: (chance) => 0.03 * chance.normal(),
    round: (chance) => 0.15 * chance.normal(),
    cycle: (chance) => 0.1 * chance.normal(),
    heat: (chance) => 0.1 * chance.normal(),
    starved: 0.03,
    foreignCpu: 1.5,
  },
  'a fifth of the rounds given to others': {
    process: (chance) => 0.02 * chance.normal(),
    round: roundWithOutliers,
    cycle: (chance) => 0.1 * chance.normal(),
    starved: 0.2,
  },
} as const satisfies Record<string, Machine>
