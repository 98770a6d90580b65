// The connections of a process. They stay open from its warm-up to its last round, so that a round needs no load before it.

import type { ResolvedCase, ResolvedRace } from '../options/resolved.ts'
import { leadOf } from './lead-in.ts'
import type { Connections, Replica, StageContext } from './stage-context.ts'
import { keepsAllConnections } from './turn-policy.ts'

/**
 * Milliseconds for which a paused process with open connections stays warm, and for which it stays nearly so: after 8 s, V8
 * collects its garbage and discards optimized code. See docs/measurements.md#open-connections
 */
const STAYS = { WARM: 5000, NEARLY: 7000 }

/** Milliseconds of load that a nearly warm process needs. */
const SHORT_LEAD = 100

/** The connections of a process for this case. Those for other cases are closed if they are too many. */
export function connectionsOf(
  { race, cases, generator, right, signal }: StageContext,
  { run, connections }: Replica,
  testCase: ResolvedCase,
): Connections {
  const open = connections.get(testCase.name)
  if (open) return open
  if (!keepsAllConnections(race, cases.length)) closeConnections(connections)
  const { status } = right.get(testCase.name)!
  const opened: Connections = {
    session: generator.openSession({ origin: run.origin, testCase, status, load: race.load }, signal),
    lastUsed: Number.NEGATIVE_INFINITY,
  }
  connections.set(testCase.name, opened)
  return opened
}

/** Closes the connections for these cases. */
export function closeConnections(
  connections: Map<string, Connections>,
  names: Iterable<string> = [...connections.keys()],
): void {
  for (const name of names) {
    connections.get(name)?.session.finish()
    connections.delete(name)
  }
}

/**
 * Resident memory in bytes from which on a process stays warm for a shorter pause, and that pause in milliseconds: V8 shrinks
 * a large heap meanwhile. See docs/measurements.md#paused-heap
 */
const LARGE = { RSS: 150e6, STAYS_WARM: 1500 }

/**
 * Milliseconds of load that a process with this resident memory needs before its next round. Rounds of other cases keep it warm
 * too.
 */
export function leadFor(
  { load }: Pick<ResolvedRace, 'load'>,
  { lastUsed }: Connections,
  { connections }: Pick<Replica, 'connections'>,
  rss: number,
): number {
  const isNew = lastUsed === Number.NEGATIVE_INFINITY
  const waited = performance.now() - Math.max(...[...connections.values()].map((open) => open.lastUsed))
  if (isNew || waited > (rss > LARGE.RSS ? LARGE.STAYS_WARM : STAYS.NEARLY)) return leadOf(load)
  return waited < STAYS.WARM ? 0 : SHORT_LEAD
}
