// Race
export { type Race, race, type RunOptions } from './race.ts'

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
} from './options.ts'
export { type Progress, progressLine, type ProgressLine } from './progress.ts'

// Results
export type { Environment } from './environment.ts'
export type { RaceResult, Summary } from './result.ts'
export type { Bottleneck, Round } from './round.ts'
export type { Estimate, Judgement, Verdict } from './verdict.ts'

// Errors
export { SpeedBoundsError, type SpeedBoundsErrorCode } from './errors.ts'

// Views
export { toMarkdown, toTerminal } from './views.ts'
