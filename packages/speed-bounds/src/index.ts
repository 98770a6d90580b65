// Race
export { type Race, race, type RunOptions } from './race/race.ts'

// Options
export type { Claim } from './options/resolved.ts'
export type {
  Answer,
  CaseOptions,
  ClaimOptions,
  CommandSubject,
  FileSubject,
  GeneratorName,
  HeatOrder,
  IdleState,
  Metric,
  Progress,
  RaceOptions,
  Subject,
} from './options/types.ts'
export { progressLine, type ProgressLine } from './report/progress-line.ts'

// Results
export type { Environment } from './report/environment.ts'
export type { RaceResult, Summary } from './report/result.ts'
export type { Bottleneck, Round } from './statistics/round.ts'
export type { Estimate, Judgement, Verdict } from './statistics/verdict.ts'

// Errors
export { SpeedBoundsError, type SpeedBoundsErrorCode } from './errors.ts'

// Views
export { toMarkdown, toTerminal } from './report/tables.ts'
