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
} from './types.ts'
export type { WorkerFigures } from './ipc/messages.ts'
export type { StuckReport, StuckReportKind } from './worker/blocked-loop-report.ts'
export type { WorkerExit, WorkerState } from './primary/worker-handle.ts'

// Options
export type { HookName } from './hooks.ts'
export type { AdminOptions, ClusteredServerOptions, Logger } from './options/options.ts'
export type { RecycleOptions, RecycleReason } from './primary/recycling.ts'

// In apps
export { runOnOneWorker, type Task } from './worker/run-on-one-worker.ts'

// Errors
export { ClusteredServerError, type ClusteredServerErrorCode } from './errors.ts'

// Containers
export { availableCores } from './platform/available-cores.ts'
