import type { Generator, TurnSession } from '../load/generator.ts'
import type { ResolvedCase, ResolvedRace, ResolvedSubject } from '../options/resolved.ts'
import type { Progress } from '../options/types.ts'
import type { Round } from '../statistics/measured-round.ts'
import type { RightResponses } from '../subject/compare-responses.ts'
import type { RunningSubject } from '../subject/running-subject.ts'
import type { Supervisor } from '../subject/supervisor.ts'
import type { Shuffle } from './schedule.ts'

/** The parts of a race that a stage needs. */
export interface StageContext {
  readonly race: ResolvedRace
  readonly subjects: readonly ResolvedSubject[]
  readonly cases: readonly ResolvedCase[]
  readonly stage: number
  readonly supervisor: Supervisor
  readonly generator: Generator
  readonly right: RightResponses
  readonly shuffle: Shuffle
  /** Ends the stage without waiting for running work. */
  readonly signal: AbortSignal
  /** Called after each round, with the histogram of its latencies if the generator has one. */
  readonly onRound: (round: Round, histogram: string | undefined) => void
  /** Called at each look at the data. True ends the stage. Without it, all processes start at once. */
  readonly onLook: ((isFirst: boolean) => boolean) | undefined
  readonly onProgress: (progress: Omit<Progress, 'elapsed'>) => void
}

/** Connections of a process for one case. */
export interface Connections {
  readonly session: TurnSession
  /** performance.now() after the last turn. */
  lastUsed: number
}

/** One of the processes of a subject. */
export interface Replica {
  readonly run: RunningSubject
  readonly number: number
  /** Open connections by the name of their case. */
  readonly connections: Map<string, Connections>
}
