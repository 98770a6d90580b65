// The rounds in which the machine disturbed a process least.

import type { Round } from './measured-round.ts'

/** Share of the rounds of a process whose CPU is compared. See docs/measurements.md#undisturbed-rounds */
const KEPT_SHARE = 0.5

/**
 * Half of the rounds of each process: those in which the generator needed the least CPU per response. It does the same work
 * in each round, so more CPU means a slower machine. The cost of the server itself chooses nothing. Throughput and latency have
 * other disturbances, so all of their rounds count.
 */
export function undisturbedRounds(rounds: readonly Round[]): Round[] {
  return [
    ...Map.groupBy(rounds, ({ subject, replica, case: name }) => `${subject}\n${replica}\n${name}`).values(),
  ].flatMap((own) =>
    own.toSorted((a, b) => a.generatorCpu - b.generatorCpu).slice(0, Math.ceil(own.length * KEPT_SHARE)),
  )
}
