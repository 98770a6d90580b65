import type { ResolvedRace } from '../options/resolved.ts'
import { canReadProc } from '../platform/proc-files.ts'

/**
 * The race with the length of turns that it can have. Without pauses, nanosecond CPU or a generator that can pause, a turn
 * is a whole round. So it is if a round is counted in requests, or no longer than a turn.
 */
export function withPossibleTurns(race: ResolvedRace): ResolvedRace {
  const { turn, load } = race
  return turn < load.duration && keepsConnections(race) ? race : { ...race, turn: load.duration }
}

/** Whether the connections of a process stay open while others are measured. */
export function keepsConnections({ idle, load }: ResolvedRace): boolean {
  return load.amount === undefined && load.generator !== 'wrk' && idle === 'paused' && canReadProc
}

/** Most open connections of a process with several cases. */
const MAX_OPEN = 400

/** Whether the connections for all cases stay open. Otherwise it is those for one case. */
export function keepsAllConnections(race: ResolvedRace, cases: number): boolean {
  return keepsConnections(race) && (cases === 1 || cases * race.load.connections <= MAX_OPEN)
}

/** Whether processes alternate within a round. */
export function takesTurns({ turn, load }: ResolvedRace): boolean {
  return turn < load.duration
}
