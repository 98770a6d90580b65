// The connections of a process. They stay open from its warm-up to its last round, so that a round needs no load before it.

import type { ResolvedCase, ResolvedRace } from '../options/resolved.ts'
import { leadOf } from './lead-in.ts'
import type { Connections, Replica, StageContext } from './stage-context.ts'

/**
 * Milliseconds for which a paused process with open connections stays warm, and for which it stays nearly so. See
 * docs/measurements.md#open-connections
 */
const STAYS = { WARM: 5000, NEARLY: 30_000 }

/** Milliseconds of load that a nearly warm process needs. */
const SHORT_LEAD = 100

/** The open connections of a process for this case. Those for another case are closed. */
export function connectionsOf(
  { race: { load }, generator, right, signal }: StageContext,
  replica: Replica,
  testCase: ResolvedCase,
): Connections {
  if (replica.connections && replica.connections.testCase !== testCase) closeConnections(replica)
  const { status } = right.get(testCase.name)!
  replica.connections ??= {
    session: generator.openSession({ origin: replica.run.origin, testCase, status, load }, signal),
    testCase,
    lastUsed: Number.NEGATIVE_INFINITY,
  }
  return replica.connections
}

export function closeConnections(replica: Replica): void {
  replica.connections?.session.finish()
  replica.connections = undefined
}

/** Milliseconds of load that a process needs before its next round. */
export function leadFor({ load }: ResolvedRace, { lastUsed }: Connections): number {
  const waited = performance.now() - lastUsed
  if (waited < STAYS.WARM) return 0
  return waited < STAYS.NEARLY ? Math.min(SHORT_LEAD, leadOf(load)) : leadOf(load)
}
