import type { ResolvedRace, ResolvedSubject } from '../options/resolved.ts'
import type { Progress } from '../options/types.ts'
import { processesIn } from '../statistics/interim-looks.ts'
import { estimateTime } from './estimate-time.ts'
import type { StageContext } from './stage-context.ts'

/** Reports the start of a step. */
export type ReportStep = (phase: Exclude<Progress['phase'], 'profiling'>, subject: ResolvedSubject) => void

/** Counts the steps of a stage, and reports each with the remaining time. */
export function stepReporter({ race, subjects, cases, stage, onLook, onProgress }: StageContext): ReportStep {
  const processes = race.replicas * subjects.length
  const rounds = (onLook ? roundsOf(race, stage) : race.cycles * race.replicas) * subjects.length * cases.length
  const begun = { starting: 0, comparing: 0, warming: 0, measuring: 0 }
  return (phase, { name }) => {
    const remaining = estimateTime(race, cases.length, {
      starts: processes - begun.starting,
      warmUps: processes - begun.warming,
      rounds: rounds - begun.measuring,
    })
    const total = phase === 'measuring' ? rounds : processes
    onProgress({ phase, subject: name, stage, done: begun[phase]++, total, remaining })
  }
}

/** Rounds of a stage for each subject and case. */
function roundsOf(race: ResolvedRace, stage: number): number {
  const { cycles, replicas, heats } = race
  if (heats === 'successive') return cycles * replicas
  return Array.from({ length: cycles }, (_, index) => processesIn(stage, index + 1, race)).reduce((a, b) => a + b, 0)
}
