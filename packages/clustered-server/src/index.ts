// Factory
export { createClusteredServer } from './create-clustered-server.ts'

// Server
export type {
  AdminAddress,
  BlockedLoopReport,
  ClusteredServer,
  ClusteredServerEvents,
  ClusterStatus,
  LingerEndReason,
  LingeringBuild,
  ReloadedRelease,
  WorkerExit,
  WorkerName,
  WorkerState,
  WorkerStats,
  WorkerStatus,
} from './server-types.ts'

// Options
export { defineConfig } from './define-config.ts'
export type {
  AdminOptions,
  BlockedLoopReportKind,
  ClusteredServerConfig,
  ClusteredServerOptions,
  LingerOptions,
  Logger,
  RecycleOptions,
  RecycleReason,
} from './options/types.ts'

// In apps
export { type Build, identifyBuild, type RequestedBuild } from './worker/identify-build.ts'
export { runOnOneWorker, type Task } from './worker/run-on-one-worker.ts'

// Errors
export {
  ClusteredServerError,
  type ClusteredServerErrorClass,
  type ClusteredServerErrorCode,
  errorCodes,
} from './errors.ts'

// Containers
export { availableCores } from './platform/available-cores.ts'
