import { availableParallelism } from 'node:os'
import { roundLength } from '../load/round-length.ts'
import type { ResolvedRace } from '../options/resolved.ts'
import { FIRST_CYCLES, processesIn } from '../statistics/interim-looks.ts'
import { SHORTEST_WARM_UP } from './is-warm.ts'
import { leadOf } from './lead-in.ts'
import { keepsAllConnections, keepsConnections } from './turn-policy.ts'

/** Usual milliseconds of a start, and of a warm-up, round and turn beyond their load. */
const OVERHEAD = { warmUp: 600, round: 125, start: 170, turn: 25 }

/** The same where connections stay open. */
const OPEN_OVERHEAD = { ...OVERHEAD, warmUp: 450, round: 20 }

/** Work that is left in a stage. */
export interface RemainingWork {
  readonly starts: number
  readonly warmUps: number
  readonly rounds: number
}

/** Usual milliseconds of a whole stage with this many subjects and cases. */
export function estimateStageTime(race: ResolvedRace, subjects: number, cases: number): number {
  return timeOf(race, race.replicas * subjects, race.cycles, cases)
}

/** Usual milliseconds until the first look at the data. */
export function estimateFirstLook(race: ResolvedRace): number {
  const { subjects, cases, replicas, heats, cycles } = race
  const isSuccessive = heats === 'successive'
  const processes = isSuccessive ? replicas : processesIn(1, 1, race)
  return timeOf(race, processes * subjects.length, isSuccessive ? cycles : Math.min(FIRST_CYCLES, cycles), cases.length)
}

function timeOf(race: ResolvedRace, processes: number, cycles: number, cases: number): number {
  const work = { starts: 0, warmUps: processes, rounds: cycles * processes * cases }
  return (processes * OVERHEAD.start) / availableParallelism() + estimateTime(race, cases, work)
}

/** Usual milliseconds for this work. Starts are counted one after the other. */
export function estimateTime(race: ResolvedRace, cases: number, { starts, warmUps, rounds }: RemainingWork): number {
  const { load, turn, maxWarmUp, minWarmUp } = race
  const isOpen = keepsConnections(race)
  const overhead = isOpen ? OPEN_OVERHEAD : OVERHEAD
  const warmUpOf = (least: number): number => Math.min(maxWarmUp, Math.max(least, SHORTEST_WARM_UP)) + overhead.warmUp
  const perProcess = warmUpOf(minWarmUp) + (cases - 1) * warmUpOf(minWarmUp / 3)
  const turns = isOpen ? Math.ceil(load.duration / turn) * overhead.turn : 0
  const lead = keepsAllConnections(race, cases) ? 0 : leadOf(load)
  return starts * overhead.start + warmUps * perProcess + rounds * (lead + roundLength(load) + overhead.round + turns)
}
