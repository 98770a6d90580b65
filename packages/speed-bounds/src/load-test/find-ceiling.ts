// The highest rate that a subject serves: the throughput of a closed loop, with as many users as it takes.

import type { Bottleneck } from '../statistics/measured-round.ts'
import type { LoadCeiling, LoadPhase } from './load-report.ts'

/** Users of the first step. Each step has this many times more. */
const FIRST = 16
const FACTOR = 4

/** A step must bring at least this much more than the one before, or it is the last one. */
const GROWTH = 1.1

/** A constant number of users, measured once. */
export type MeasureUsers = (users: number) => Promise<Pick<LoadPhase, 'throughput' | 'limitedBy' | 'failures'>>

/** Measures with more and more users, until that does not help any more. */
export async function findCeiling(measure: MeasureUsers, maxUsers: number): Promise<LoadCeiling> {
  let best: LoadCeiling = { rate: 0, users: 0, limitedBy: 'latency' satisfies Bottleneck }
  for (let users = Math.min(FIRST, maxUsers); ; users = Math.min(users * FACTOR, maxUsers)) {
    const { throughput, limitedBy } = await measure(users)
    const grows = throughput > best.rate * GROWTH
    if (throughput > best.rate) best = { rate: throughput, users, limitedBy }
    if (!grows || users >= maxUsers) return best
  }
}
