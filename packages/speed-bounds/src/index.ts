// Race
export { type Race, race, type RunOptions } from './race/race.ts'

// Options
export type {
  Answer,
  CaseOptions,
  Claim,
  ClaimOptions,
  CommandSubject,
  FileSubject,
  GeneratorName,
  HeatOrder,
  IdleState,
  Metric,
  RaceOptions,
  Subject,
} from './options/resolve.ts'
export { type Progress, progressLine, type ProgressLine } from './report/progress-line.ts'

// Results
export type { Environment } from './report/environment.ts'
export type { RaceResult, Summary } from './report/result.ts'
export type { Bottleneck, Round } from './statistics/round.ts'
export type { Estimate, Judgement, Verdict } from './statistics/verdict.ts'

// Errors
export { SpeedBoundsError, type SpeedBoundsErrorCode } from './errors.ts'

// Views
export { toMarkdown, toTerminal } from './report/tables.ts'
