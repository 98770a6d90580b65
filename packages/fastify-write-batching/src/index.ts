// Plugin
export {
  fastifyWriteBatching,
  fastifyWriteBatching as default,
  type FastifyWriteBatchingOptions,
  type WriteBatchingStats,
} from './plugin.ts'

// Any HTTP server
export { batchConnection } from './batched-connection.ts'
export { createWriteBatch, type WriteBatch } from './write-batch.ts'

// Errors
export { errorCodes } from './errors.ts'
