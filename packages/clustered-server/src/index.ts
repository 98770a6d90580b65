// Factory
export { createClusteredServer } from './create-clustered-server.ts'

// Server
export type {
  AdminAddress,
  ClusteredServer,
  ClusteredServerEvents,
  ClusterStatus,
  WorkerName,
  WorkerStatus,
} from './clustered-server.ts'
export type { WorkerFigures } from './messages.ts'
export type { StuckReport, StuckReportKind } from './stuck-report.ts'
export type { WorkerExit, WorkerState } from './worker-process.ts'

// Options
export type { HookName } from './hooks.ts'
export type { AdminOptions, ClusteredServerOptions, Logger } from './options.ts'
export type { RecycleOptions, RecycleReason } from './recycling.ts'

// In apps
export { runOnOneWorker, type Task } from './run-on-one-worker.ts'

// Errors
export { ClusteredServerError, type ClusteredServerErrorCode } from './errors.ts'

// Containers
export { availableCores } from './available-cores.ts'
