// Factory
export { createClusteredServer } from './create-clustered-server.ts'

// Server
export type {
  ClusteredServer,
  ClusteredServerEvents,
  ClusterStatus,
  WorkerName,
  WorkerStatus,
} from './clustered-server.ts'
export type { WorkerFigures } from './messages.ts'
export type { WorkerExit, WorkerState } from './worker-process.ts'

// Options
export type { ClusteredServerOptions } from './options.ts'
export type { RecycleOptions, RecycleReason } from './recycling.ts'

// Errors
export { ClusteredServerError, type ClusteredServerErrorCode } from './errors.ts'

// Containers
export { availableCores } from './available-cores.ts'
