// Race
export { race } from './race.ts'
export type { Race, RunOptions } from './race/race.ts'
export type { RacedFunction } from './functions/benchmark-file.ts'
export type { FunctionRace } from './functions/function-race.ts'

// Load
export { load } from './load-test/load.ts'
export type { LoadCeiling, LoadLatency, LoadPhase, LoadReport, LoadServer } from './load-test/load-report.ts'
export type { LoadOptions, LoadProgress, LoadStage, Protocol, Rate, RateRamp } from './options/load-types.ts'

// Configuration file
export { defineConfig } from './config/define-config.ts'
export type { ConfigClaim, SpeedBoundsConfig } from './options/config-types.ts'

// Options
export type { FunctionRaceOptions } from './options/function-options.ts'
export type { Claim } from './options/resolved.ts'
export type {
  CaseOptions,
  ClaimOptions,
  CommandSubject,
  ComparedResponse,
  FileSubject,
  GeneratorName,
  HeatOrder,
  IdleState,
  MeasurementOptions,
  Metric,
  Progress,
  RaceOptions,
  Subject,
} from './options/types.ts'
export { progressLine, type ProgressLine } from './report/progress-line.ts'

// Results
export type { FunctionRaceResult, FunctionRatio, FunctionSummary } from './functions/function-result.ts'
export type { Environment } from './report/environment.ts'
export type { Call, FunctionTime, Profile } from './profile/profile.ts'
export type { Latency } from './report/latency-histograms.ts'
export type { RaceResult, Summary } from './report/result.ts'
export type { Bottleneck, Round } from './statistics/measured-round.ts'
export type { Decision, Estimate, Verdict } from './statistics/verdict.ts'

// Errors
export { errorCodes, SpeedBoundsError, type SpeedBoundsErrorClass, type SpeedBoundsErrorCode } from './errors.ts'

// Views
export { functionsToMarkdown, functionsToTerminal } from './report/function-table.ts'
export { loadToMarkdown, loadToTerminal } from './report/load-tables.ts'
export type { ResultDocument } from './report/result-document.ts'
export { toHtml } from './report/html/to-html.ts'
export { type Place, toMarkdown, toTerminal } from './report/tables.ts'
