// Factory
export { createTrpcFastify } from './create-trpc-fastify.ts'

// Plugin
export { trpcPlugin, trpcPlugin as default } from './plugin.ts'
export type { FallbackReason } from './request/parse-request.ts'
export type { TrpcStats } from './serve-router.ts'

// WebSockets
export { reconnectOnClose } from './websocket.ts'

// Errors
export { errorCodes } from './errors.ts'

// Options
export type {
  CallRecord,
  CreateFastifyContextOptions,
  CreateTrpcFastifyOptions,
  ObservedCall,
  ProcedureRule,
  RateLimitResult,
  SerializerOption,
  TrpcHandlerOptions,
  TrpcObserver,
  TrpcPluginOptions,
  TrpcWebSocketOptions,
} from './options/types.ts'
